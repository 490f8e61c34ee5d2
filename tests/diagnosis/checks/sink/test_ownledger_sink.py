"""The doctor reports an output that is gone as the next start will refuse it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.errors import StorageError
from holdfast.findings import Finding, Severity
from holdfast.ledgers.reading import SinkPlace
from holdfast.ledgers.sinkstate import Contents, LastCommitted, SinkState
from holdfast.records.run import SinkFacts
from tests.checkpoint.pictures import files_of
from tests.diagnosis.doctor.examining import OUTPUT, examinee, found
from tests.diagnosis.doctor.recording import recorded, run_on
from tests.diagnosis.doctor.scenarios import declared

SHAPE, SPARK = "stateless", "4.2.1"
CODES = {"HF3006", "HF3013", "HF3014", "HF3015", "HF3016", "HF3017", "HF2407"}
BEFORE = SinkFacts("parquet", "out", "append", "once", place="file:///lake/out", held=1, since=0)
NOTHING = LastCommitted.nothing("no batch of this query")


def reported(sight: SinkState, sink: SinkFacts | None = BEFORE) -> dict[str, Severity]:
    """Return what is found of a declared job whose sink looks like this."""
    run = run_on(SHAPE, SPARK, sink=sink)
    one = examinee(files_of(SHAPE, SPARK), {}, job=declared(), recorded=recorded(run))
    assert one.sink is not None
    place = replace(one.sink, sees=lambda _: sight)
    return {code: finding.severity for code, finding in found(replace(one, sink=place)).items()
            if code in CODES}  # fmt: skip


def test_an_output_that_is_gone_is_fatal() -> None:
    """As `run` refuses it, and not as a file sink of Spark's that lost its log."""
    gone = SinkState(NOTHING, "file:///lake/out", contents=Contents.ABSENT)
    assert reported(gone) == {"HF3013": Severity.FATAL}
    assert reported(replace(gone, contents=Contents.ROWS)) == {"HF3014": Severity.FATAL}
    unknown = replace(gone, held=LastCommitted.unknown("no permission"))
    assert reported(unknown) == {"HF3015": Severity.FATAL}


def findings(sight: SinkState, **sink: str) -> dict[str, Finding]:
    """Return what is found of a job with a file sink that never ran under Holdfast."""
    one = examinee(files_of(SHAPE, SPARK), {},
                   job=declared(sink={"format": "parquet", "path": "out", **sink}))  # fmt: skip
    assert one.sink is not None
    return found(replace(one, sink=replace(one.sink, sees=lambda _: sight)))


def test_files_of_this_query_are_not_called_another_writers() -> None:
    """Only the manifests are gone: they are to be put back."""
    run = run_on(SHAPE, SPARK, sink=BEFORE)
    own = SinkState(NOTHING, "file:///lake/out", contents=Contents.ROWS, is_own=True)
    one = examinee(files_of(SHAPE, SPARK), {}, job=declared(), recorded=recorded(run))
    assert one.sink is not None
    finding = found(replace(one, sink=replace(one.sink, sees=lambda _: own)))["HF3014"]
    assert "now it has files of this query, but no manifest of them" in finding.message
    assert "another writer" not in finding.why
    (step,) = finding.next_steps
    assert step.startswith("put the directory file:///lake/.holdfast/out back")


def test_a_file_sink_of_holdfast_is_not_spoken_of_as_sparks() -> None:
    """Files without manifests are refused at the start; an empty output begins later."""
    rows = SinkState(NOTHING, "file:///lake/out", contents=Contents.ROWS)
    finding = findings(rows)["HF2407"]
    assert "_spark_metadata" not in f"{finding.why} {finding.next_steps}"
    assert "Holdfast's file sink" in finding.why
    assert finding.next_steps == ("give the sink a directory of its own",)
    empty = findings(replace(rows, contents=Contents.EMPTY))
    assert "HF2407" not in empty and "HF3023" in empty


def test_an_older_copy_of_files_is_fatal() -> None:
    """The ledger holds batch 1, and only the files of batch 0 are there."""
    held = LastCommitted.batch(1, "the manifests")
    older = SinkState(held, "file:///lake/out", contents=Contents.ROWS, rows_up_to=0, doubt="gone")
    assert reported(older) == {"HF3006": Severity.FATAL, "HF3017": Severity.WARNING}


def test_a_whole_output_and_an_adopted_job_give_nothing() -> None:
    """An adopted job never delivered under Holdfast: its sink has nothing to be missed."""
    whole = SinkState(LastCommitted.batch(9, "the manifests"), "file:///lake/out")
    assert reported(whole) == {}
    empty = SinkState(NOTHING, "file:///lake/out", contents=Contents.EMPTY)
    assert reported(empty, sink=None) == {}


@pytest.mark.parametrize("query_id", ["a", None])
def test_what_cannot_be_looked_at_gives_no_sight(query_id: str | None) -> None:
    """Whoever asks for its memory reports why."""

    def fail(_query_id: str) -> SinkState:
        raise StorageError("HF7001", "unreachable")

    assert SinkPlace(OUTPUT, sees=fail).see(query_id) is None
