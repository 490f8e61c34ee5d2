"""A whole stream through JDBC, killed on the way: every row is there once."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from holdfast.crashpoints import VARIABLE
from tests.parts.libraries import jars_for
from tests.spark.running.processes import call, result_of
from tests.spark.running.projects import Made, expected, ingest
from tests.spark.sinks.database.jdbcplaces import h2_place

pytestmark = pytest.mark.spark


@pytest.mark.whole
def test_a_kill_in_the_transaction_loses_and_doubles_nothing(
    spark: Any, tmp_path: Path, h2: str
) -> None:
    """A real process, killed in its second batch; the server takes back, the next run is whole."""
    place = h2_place(spark, h2)
    sink = {"format": "jdbc", "url": place.url, "table": "raw", "mode": "upsert", "key": ["n"]}
    session = {
        "master": "local[2]",
        "conf": {"spark.sql.shuffle.partitions": 2},
        "jars": [str(jar) for jar in jars_for("h2")],
    }
    made = Made(tmp_path, {"ingest": ingest() | {"sink": sink}}, spark=session)
    numbers = made.arrive(3) + made.arrive(4)
    killed = call(tmp_path, "run", "--json", **{VARIABLE: "jdbc.moved:2"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-800:]
    assert (made.ids("ingest", "offsets"), made.ids("ingest", "commits")) == ([0, 1], [0])
    assert place.rows("select count(*) from raw") == [(3,)]
    numbers += made.arrive(2)
    again = result_of(call(tmp_path, "run", "--json"))
    (job,) = again["result"]["jobs"]
    assert (job["ended"], job["generation"], job["first_batch"]) == ("finished", 2, 1)
    assert Counter(place.rows('select "n", "k" from raw')) == expected(numbers)
    held = "select batch_id, generation from holdfast_ledger where batch_id >= 0 order by 1"
    assert place.rows(held) == [(0, 1), (1, 2), (2, 2)]
    assert place.tables() == {"raw", "holdfast_ledger"}
