"""A whole stream into PostgreSQL, killed on the way: every row is there once."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.crashpoints import VARIABLE
from tests.parts.postgres import rows_in
from tests.spark.running.processes import call, result_of
from tests.spark.running.projects import Made, expected, ingest

pytestmark = pytest.mark.spark


def into(uri: str, **more: Any) -> dict[str, Any]:
    """Declare a job from JSON files into a table."""
    sink = {"format": "postgres", "url": uri, "table": "raw", **more}
    return ingest() | {"sink": sink}


def raw(uri: str) -> Counter[Any]:
    """Give the rows, each with how often it is there."""
    return Counter(rows_in(uri, "select n, k from raw"))


@pytest.mark.whole
def test_a_kill_after_the_commit_leaves_nothing_to_do_twice(
    spark: Any, tmp_path: Path, database: str
) -> None:
    """A real process, killed in its second batch; the next start skips what is there."""
    made = Made(tmp_path, {"ingest": into(database)})
    numbers = made.arrive(3) + made.arrive(4)
    killed = call(tmp_path, "run", "--json", **{VARIABLE: "sink.after-commit:2"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-500:]
    assert (made.ids("ingest", "offsets"), made.ids("ingest", "commits")) == ([0, 1], [0])
    numbers += made.arrive(2)
    again = result_of(call(tmp_path, "run", "--json"))
    (job,) = again["result"]["jobs"]
    assert (job["ended"], job["generation"], job["first_batch"]) == ("finished", 2, 1)
    assert job["skipped_batches"] == 1
    assert raw(database) == expected(numbers)
    held = "select batch_id, generation from holdfast_ledger where batch_id >= 0 order by 1"
    assert rows_in(database, held) == [(0, 1), (1, 1), (2, 2)]
    left = "select count(*) from pg_tables where tablename like 'holdfast_staging%'"
    assert rows_in(database, left) == [(0,)]


def test_a_stateful_stream_replaces_its_result(spark: Any, tmp_path: Path, database: str) -> None:
    """Mode complete through the library, started twice."""
    job = into(database, mode="complete") | {"transform": "pipeline:counted"}
    made = Made(tmp_path, {"counts": job | {"output_mode": "complete"}})
    for count in (6, 3):
        made.arrive(count)
        holdfast.run(project=made.file)
    rows = rows_in(database, "select k, count, total from raw order by k")
    assert rows == [("k0", 3, 9), ("k1", 3, 12), ("k2", 3, 15)]
