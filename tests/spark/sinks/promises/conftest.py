"""A place of its own for every sink that is tried."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.spark.sinks.databases import Databases, databases_on
from tests.spark.sinks.plainreading import VIEW
from tests.spark.sinks.promises.delivering import Tried
from tests.spark.sinks.subjects import Subject


@pytest.fixture(scope="session")
def databases(postgres: str, h2: str) -> Iterator[Databases]:
    """Give the servers of this session."""
    with databases_on(postgres, h2) as databases:
        yield databases


@pytest.fixture
def tried(spark: Any, tmp_path: Path, databases: Databases, subject: Subject) -> Tried:
    """Give the sink of the test, with nothing written yet."""
    spark.catalog.dropTempView(VIEW)
    return Tried(spark, subject, databases.place(tmp_path, subject))
