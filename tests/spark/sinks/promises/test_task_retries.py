"""Tasks that fail after their rows were handed on, and tasks that run twice: each row once."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.parts import classarchive
from tests.spark.sinks.plainreading import Place
from tests.spark.sinks.promises import retrying
from tests.spark.sinks.subjects import SUBJECT_BY_NAME

pytestmark = pytest.mark.spark

NAMES = ("parquet-append", "postgres-append")


def test_attempts_that_lost_leave_no_row(tmp_path: Path, database: str) -> None:
    """In a Spark of its own with two executors: real retries, real copies of slow tasks."""
    here = Path(__file__).parents[4]
    done = subprocess.run(
        [sys.executable, "-m", retrying.__name__, str(tmp_path), database, *NAMES],
        cwd=here,
        env={
            **os.environ,
            "PYTHONPATH": f"{here}:{here / 'src'}",
            classarchive.VARIABLE: classarchive.quick_java(),
        },
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert list(map(json.loads, done.stdout.splitlines())) == [[name, False] for name in NAMES]
    wanted = Counter((n, str(n)) for n in range(retrying.ROWS))
    for name in NAMES:
        subject = SUBJECT_BY_NAME[name]
        assert subject.reads(Place(tmp_path / name, database), ("n", "k")) == wanted, name
        attempts = {path.name for path in (tmp_path / name / "attempts").iterdir()}
        stumbled = range(4 if name == "postgres-append" else 2)
        assert attempts >= {f"{task}-{attempt}" for task in stumbled for attempt in range(2)}
