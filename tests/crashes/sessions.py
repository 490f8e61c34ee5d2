"""Opens the one Spark in which killed jobs are run to their end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from holdfast.running.settings import SessionOptions
from holdfast.spark.session.opening import open_session, stop_session
from tests.parts.libraries import jars_for

MASTER = "local[2]"


@contextmanager
def spark_of_audit(folder: Path) -> Iterator[None]:
    """Keep a Spark open that serves every sink."""
    conf = {
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.streaming.pollingDelay": "5ms",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    features = frozenset({"delta", "postgres"})
    jars = tuple(str(jar) for jar in jars_for("h2"))
    options = SessionOptions("audit", MASTER, conf, jars=jars, features=features, folder=folder)
    session = open_session(options)
    try:
        yield
    finally:
        stop_session(session)
