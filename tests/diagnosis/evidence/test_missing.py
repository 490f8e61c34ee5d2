"""Evidence is not ready for advice where the next start would be refused because of its sink."""

from __future__ import annotations

import io

from rich.console import Console

from holdfast.answers import Answer
from holdfast.cli.drawing.evidence import draw_evidence
from holdfast.diagnosis.evidence.collecting import collect_evidence
from holdfast.diagnosis.evidence.report import markdown_report
from holdfast.diagnosis.inspection.evidence import Evidence
from holdfast.ledgers.reading import SinkMemory, SinkPlace
from holdfast.ledgers.sinkstate import Contents, LastCommitted, SinkState
from holdfast.records.leases.state import Standing
from holdfast.records.run import SinkFacts
from holdfast.storage.memory import MemoryReader
from tests.checkpoint.pictures import files_of
from tests.diagnosis.doctor.recording import lease, recorded, run_on
from tests.diagnosis.doctor.scenarios import declared

SHAPE, SPARK = "stateless", "4.2.1"
PLACE = "file:///lake/out"
BEFORE = SinkFacts("parquet", "out", "append", "once", place=PLACE, held=3, since=0)
GONE = SinkState(LastCommitted.nothing("no batch"), PLACE, contents=Contents.ABSENT)
WHOLE = SinkState(LastCommitted.batch(3, "the manifests"), PLACE, contents=Contents.ROWS)


def gathered(sight: SinkState, *, runs: bool = False) -> Answer[Evidence]:
    """Gather the evidence of a job whose last run delivered batch 3 to a sink that looks so."""
    known = recorded(
        run_on(SHAPE, SPARK, sink=BEFORE), lease=lease(Standing.HELD) if runs else None
    )
    return collect_evidence(
        MemoryReader(files_of(SHAPE, SPARK)),
        job="orders",
        sink=SinkPlace("out", asked=lambda: SinkMemory("out"), sees=lambda _: sight),
        recall=lambda: known,
        declared_job=declared(),
    )


def test_a_deleted_output_is_not_ready() -> None:
    """The doctor calls the same output fatal, and `run` refuses it."""
    answer = gathered(GONE)
    first = answer.result.missing[0]
    assert answer.result.ready is False
    assert (first.fact, first.essential) == ("sink", True)
    assert first.what == f"{PLACE} had batch 3 of this query; now it does not exist; this start "\
        "would begin with batch 4 (HF3013)"  # fmt: skip
    assert first.how[0].startswith("holdfast doctor orders ")
    assert "holdfast doctor orders" in answer.next_steps
    assert "HF3013" in [one.code for one in answer.findings]


def test_the_verdict_says_why() -> None:
    console = Console(file=io.StringIO(), width=400)
    draw_evidence(gathered(GONE), console)
    assert isinstance(console.file, io.StringIO)
    assert f"Not ready for advice: {PLACE} had batch 3" in console.file.getvalue()
    report = markdown_report(gathered(GONE))
    assert f"**Not ready for advice:** {PLACE} had batch 3" in report
    assert "unknown." not in report.splitlines()[2]


def test_a_whole_output_is_ready() -> None:
    """And so is one that a living driver is writing to: it may be created at this moment."""
    for answer in (gathered(WHOLE), gathered(GONE, runs=True)):
        assert answer.result.ready is True
        assert "HF3013" not in [one.code for one in answer.findings]
