"""A changed query on its old checkpoint: refused before it mixes state; harmless, it starts."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

import holdfast
from holdfast.errors import RefusedError
from tests.cli.running import holdfast as command
from tests.spark.running.projects import ROWS, Made, table

pytestmark = pytest.mark.spark

SUMS = "select k, sum(n) as total from source where n >= 0 group by k"


def sums(sql: str = SUMS, name: str = "sums") -> dict[str, Any]:
    """Declare a job that keeps one row per key."""
    return {
        "source": {"format": "json", "path": "./in", "schema": ROWS},
        "sql": sql,
        "sink": {"format": "delta", "path": f"./lake/{name}", "mode": "upsert", "key": ["k"]},
    }


def declare(made: Made, **jobs: dict[str, Any]) -> None:
    """Write the project file again with these jobs."""
    declared = yaml.safe_load(made.file.read_text(encoding="utf-8"))
    made.file.write_text(yaml.safe_dump({**declared, "jobs": jobs}), encoding="utf-8")


def refused(made: Made) -> RefusedError:
    """Return why a run is refused."""
    with pytest.raises(RefusedError) as told:
        holdfast.run("sums", project=made.file)
    return told.value


def everything(folder: Path) -> dict[str, bytes]:
    """Return every file of the project."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(one.relative_to(folder)): one.read_bytes() for one in files
            if "__pycache__" not in one.parts}  # fmt: skip


def totals(numbers: list[int], by: Any = sum) -> Counter[tuple[str, int]]:
    """Return what the sink should have."""
    keys = sorted({one % 3 for one in numbers})
    return Counter((f"k{key}", by(one for one in numbers if one % 3 == key)) for key in keys)


def test_a_changed_aggregate_is_refused_before_it_mixes_state(spark: Any, tmp_path: Path) -> None:
    """HF3116; put back it goes on, accepted it starts, and apart it is right from the start."""
    made = Made(tmp_path, {"sums": sums()})
    numbers = made.arrive(6)
    holdfast.run(project=made.file)
    peaks = SUMS.replace("sum(n)", "max(n)")
    declare(made, sums=sums(peaks))
    numbers += made.arrive(3)
    was = everything(tmp_path)
    checked = holdfast.check("sums", project=made.file)
    assert (checked.result.verdict, checked.exit_status) == (holdfast.Verdict.UNSAFE, 30)
    assert checked.result.changes[0].rule == "HF3116"
    assert everything(tmp_path) == was, "check writes nothing"
    error = refused(made)
    assert (error.code.number, error.exit_status) == ("HF3116", 30)
    accepting = f'holdfast.run(…, accept=["{checked.result.changes[0].accept}"])'
    assert error.next_steps[-1].endswith(accepting), "a call that can be pasted"
    assert checked.next_steps[-2].endswith(accepting)
    assert table(spark, tmp_path / "lake/sums") == totals(numbers[:6])

    declare(made, sums=sums())
    holdfast.run(project=made.file)
    assert table(spark, tmp_path / "lake/sums") == totals(numbers)

    declare(made, sums=sums(peaks), peaks=sums(peaks, "peaks"))
    holdfast.run("peaks", project=made.file)
    assert table(spark, tmp_path / "lake/peaks") == totals(numbers, max)

    digest = error.next_steps[-1].partition('accept=["')[2].removesuffix('"])')
    made.arrive(3)
    answer = holdfast.run("sums", project=made.file, accept=[digest])
    assert "HF3116" in {one.code for one in answer.findings if one.accepted}
    status = holdfast.run("sums", project=made.file)
    assert status.exit_status == 0, "what was accepted is what runs now"


def test_the_plan_that_a_check_names_starts_over(spark: Any, tmp_path: Path) -> None:
    """Followed word for word, every row is there once, by the changed query."""
    made = Made(tmp_path, {"sums": sums()})
    numbers = made.arrive(6)
    holdfast.run(project=made.file)
    declare(made, sums=sums(SUMS.replace("sum(n)", "max(n)")))
    numbers += made.arrive(3)
    *_, last = holdfast.check("sums", project=made.file).next_steps
    text, _, step = last.partition(": ")
    assert text == "or, to start over with the output cleared"
    assert step == f"holdfast plan reset --project {made.file} sums --output clear"
    plan = str(tmp_path / "plan.json")
    assert command(*shlex.split(step)[1:], "-o", plan).status == 0
    applied = command("apply", plan, "--yes", "--project", str(made.file))
    assert applied.status == 0, applied.err
    assert holdfast.run("sums", project=made.file).exit_status == 0
    assert table(spark, tmp_path / "lake/sums") == totals(numbers, max)


def test_a_harmless_change_starts(spark: Any, tmp_path: Path) -> None:
    """Other spelling, another alias above the state, another pace: nothing is asked."""
    made = Made(tmp_path, {"sums": sums()})
    numbers = made.arrive(6)
    holdfast.run(project=made.file)
    again = sums(
        "SELECT k,\n  sum( n )  AS total -- rewritten\nFROM source WHERE n >= 0 GROUP BY k"
    )
    again["source"]["options"] = {"maxFilesPerTrigger": "7"}
    declare(made, sums=again)
    numbers += made.arrive(3)
    checked = holdfast.check(project=made.file)
    assert (checked.result.verdict, checked.exit_status) == (holdfast.Verdict.SAFE, 0)
    assert checked.result.jobs[0].compared_with == 1
    answer = holdfast.run(project=made.file)
    assert not [one for one in answer.findings if one.code.startswith("HF31")]
    assert table(spark, tmp_path / "lake/sums") == totals(numbers)


def test_a_changed_filter_below_state_is_a_question(spark: Any, tmp_path: Path) -> None:
    """HF3122 with status 32."""
    made = Made(tmp_path, {"sums": sums()})
    made.arrive(6)
    holdfast.run(project=made.file)
    declare(made, sums=sums(SUMS.replace("n >= 0", "n >= 2")))
    made.arrive(3)
    error = refused(made)
    assert (error.code.number, error.exit_status) == ("HF3122", 32)


def test_a_program_checks_its_own_query(spark: Any, tmp_path: Path) -> None:
    """Without a recorded run it is said what to confirm; nothing is there to compare at first."""
    made = Made(tmp_path, {})
    made.arrive(6)
    frame = spark.readStream.schema(ROWS).json(str(tmp_path / "in")).groupBy("k").count()
    place = tmp_path / "cp"
    first = holdfast.check(frame, checkpoint=place, output_mode="complete")
    assert (first.result.verdict, first.exit_status) == (holdfast.Verdict.SAFE, 0)
    query = (
        frame.writeStream.format("noop").outputMode("complete").trigger(availableNow=True)
        .option("checkpointLocation", str(place)).start()
    )  # fmt: skip
    query.awaitTermination()
    same = holdfast.check(frame, checkpoint=place, output_mode="complete")
    assert (same.exit_status, [one.rule for one in same.result.changes]) == (31, ["HF3101"])
    wider = spark.readStream.schema(ROWS).json(str(tmp_path / "in")).groupBy("k", "n").count()
    other = holdfast.check(wider, checkpoint=place, output_mode="complete")
    assert (other.exit_status, other.result.changes[0].rule) == (30, "HF3111")
