"""A damaged change that the pending batch left: the installed Spark replaces it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.findings import Severity
from tests.spark.streaming import run_to_end

pytestmark = pytest.mark.spark


def test_spark_replaces_a_damaged_change_of_the_pending_batch(spark: Any, tmp_path: Path) -> None:
    """`doctor --verify` reports a note, and the start delivers the whole counts."""
    (tmp_path / "in").mkdir()
    counts: dict[str, int] = {}

    def deliver(batch: Any, _: int) -> None:
        counts.update({row["k"]: row["count"] for row in batch.collect()})

    def run() -> None:
        source = spark.readStream.schema("k string").json(str(tmp_path / "in"))
        run_to_end(source.groupBy("k").count(), tmp_path / "checkpoint", deliver, "update")

    for number in range(3):
        (tmp_path / "in" / f"{number}.json").write_text('{"k": "a"}\n{"k": "b"}\n')
        run()
    for name in ("2", ".2.crc"):
        (tmp_path / "checkpoint/commits" / name).unlink()
    written = sorted((tmp_path / "checkpoint/state/0").glob("[0-9]*/3.delta"))
    assert written
    for file in written:
        file.write_bytes(file.read_bytes()[:-3] + b"???")
    found = holdfast.doctor(tmp_path / "checkpoint", verify=True).findings
    assert {one.severity for one in found if one.code == "HF2111"} == {Severity.INFO}
    (tmp_path / "in" / "3.json").write_text('{"k": "a"}\n')
    run()
    assert counts == {"a": 4, "b": 3}
    again = holdfast.doctor(tmp_path / "checkpoint", verify=True).findings
    assert [one.code for one in again if one.code == "HF2111"] == []
