"""One real Spark for all tests that need one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.running.settings import SessionOptions
from holdfast.spark.session.opening import open_session, stop_session
from tests.parts import classarchive
from tests.parts.h2 import running_h2
from tests.parts.kafka import running_broker
from tests.parts.libraries import jars_for


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Start Spark once; a machine without Java fails here, it does not skip."""
    folder: Path = tmp_path_factory.mktemp("spark")
    conf = {
        "spark.driver.memory": "2g",
        "spark.sql.shuffle.partitions": "2",
        # Delta's vacuum lists a table in as many tasks; Spark's own number is ten thousand.
        "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
        "spark.sql.streaming.pollingDelay": "5ms",
        "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.task.maxFailures": "1",
    }
    features = frozenset({"delta", "kafka", "postgres"})
    jars = tuple(str(jar) for jar in jars_for("h2"))
    options = SessionOptions("tests", "local[2]", conf, jars=jars, features=features, folder=folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv(classarchive.VARIABLE, classarchive.lasting_java())
        session = open_session(options)
    yield session
    stop_session(session)


@pytest.fixture(scope="session")
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start a Kafka broker once, and give its address."""
    with running_broker(tmp_path_factory.mktemp("kafka")) as address:
        yield address


@pytest.fixture(scope="session")
def h2(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Start an H2 server once, and give the JDBC URL that a database's name is added to."""
    with running_h2(tmp_path_factory.mktemp("h2")) as url:
        yield url
