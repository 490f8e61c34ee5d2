"""Tasks that fail after their rows were handed on, or even committed: each row is there once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.spark.sinks.plainreading import Place
from tests.spark.sinks.promises import retrying
from tests.spark.sinks.promises.ownspark import told_by
from tests.spark.sinks.subjects import SUBJECT_BY_NAME

pytestmark = pytest.mark.spark

NAMES = ("parquet-append", "postgres-append", "delta-append")


def test_attempts_that_lost_leave_no_row(tmp_path: Path, database: str) -> None:
    """Real retries, in a Spark of its own."""
    told = told_by(retrying, str(tmp_path), database, *NAMES)
    assert told == [[name, False] for name in NAMES]
    wanted = Counter((n, str(n)) for n in range(retrying.ROWS))
    for name in NAMES:
        subject = SUBJECT_BY_NAME[name]
        assert subject.reads(Place(tmp_path / name, database), ("n", "k")) == wanted, name
        attempts = {path.name for path in (tmp_path / name / "attempts").iterdir()}
        stumbled = range(2 if name == "postgres-append" else 1)
        assert attempts >= {f"{task}-{attempt}" for task in stumbled for attempt in range(2)}
