"""One real Spark for all tests that need one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.spark.session import SessionWish, open_session, stop_session
from tests.parts.kafka import running_broker


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start Spark once; a machine without Java fails here, it does not skip."""
    folder: Path = tmp_path_factory.mktemp("spark")
    conf = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.pollingDelay": "5ms",
        "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.task.maxFailures": "1",
    }
    features = frozenset({"delta", "kafka"})
    session = open_session(SessionWish("tests", "local[2]", conf, features=features, folder=folder))
    yield session
    stop_session(session)


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a Kafka broker once, and give its address."""
    with running_broker(tmp_path_factory.mktemp("kafka")) as address:
        yield address
