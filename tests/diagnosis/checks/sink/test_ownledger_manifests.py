"""Manifests, staging and output together: what is healthy stays quiet, and so does a living job."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.errors import StorageError
from holdfast.findings import Finding, Severity
from holdfast.ledgers.files.format import Epochs, Fence, Intent
from holdfast.ledgers.reading import SinkPlace
from holdfast.records.leases.state import Standing
from holdfast.storage.memory import MemoryReader
from tests.checkpoint.pictures import files_of
from tests.diagnosis.doctor.examining import examined, found
from tests.diagnosis.doctor.filesinks import ROWS, FileSink, ledger, with_sink
from tests.diagnosis.doctor.recording import lease, recorded, run_on
from tests.diagnosis.doctor.scenarios import STATELESS, UUID, file_sink, query_of, rolled_back

RUNS_NOW = recorded(run_on(STATELESS, ended=None), lease=lease(Standing.HELD))


def told(sink: FileSink | SinkPlace, *, verified: bool = True) -> dict[str, Finding]:
    """Give what is found of the sink."""
    findings = found(*with_sink(files_of(STATELESS), sink), verified=verified)
    return {code: one for code, one in findings.items() if code.startswith("HF24")}


@pytest.mark.parametrize("mode", ["append", "complete"])
def test_a_healthy_sink_is_quiet(mode: str) -> None:
    """Hidden files, and an attempt at a batch that is to come, are no trouble."""
    sink = FileSink(query_of(STATELESS), range(4), mode)
    sink.holding("_SUCCESS", b"").holding(".part-0.csv.crc", b"crc")
    assert told(sink) == {}
    seen = examined(*with_sink(files_of(STATELESS), sink)).result.targets[0].sink
    assert seen is not None and (seen.kind, seen.last_committed) == ("files", 3)


def test_a_deleted_checkpoint_is_said_to_have_no_query_id() -> None:
    """There is no id that could be named."""
    message = found(*with_sink({}, file_sink()))["HF2443"].message
    assert message.endswith(", but this checkpoint has no query id")


def test_the_output_is_listed_only_when_all_is_verified() -> None:
    """It may hold millions of files."""
    sink = file_sink().holding("by-hand.csv", b"").losing("part-0000000000-0.csv")
    assert told(sink, verified=False) == {}
    assert told(sink).keys() == {"HF2452", "HF2454"}


def test_what_is_staged_is_not_gone() -> None:
    """Only the file that is neither here nor there is."""
    sink = file_sink().unpublished(3)
    assert told(sink).keys() == {"HF2451"}
    gone = told(file_sink().unpublished(3).losing("part-0000000003-1.csv"))
    assert gone["HF2452"].evidence["files"] == ["part-0000000003-1.csv"]


def test_what_the_slower_of_two_drivers_staged_is_not_waited_for() -> None:
    """Its batch is committed and published, by the other one."""
    left = told(file_sink().staged("0000000003-2-fedcba/part-0.csv"))
    assert left.keys() == {"HF2459"}


def test_a_committed_batch_that_is_to_replace_the_output_is_unpublished_alone() -> None:
    """In mode complete: the folder of the batch before is none of the newest manifest's."""
    sink = FileSink(query_of(STATELESS), range(4), "complete").unpublished(3, "complete")
    assert told(sink.holding("part-of-the-batch-before.csv", ROWS)).keys() == {"HF2451"}


def test_batches_that_are_taken_back_are_neither_gone_nor_strange() -> None:
    """Their files go one by one."""
    sink = file_sink().losing("part-0000000003-0.csv")
    taken = told(sink.taking_back(Intent(query_of(STATELESS), 2)))
    assert taken.keys() == {"HF2458", "HF2442"}
    assert "after 2" in taken["HF2458"].message
    every = told(file_sink().taking_back(Intent(None, -1)))
    assert "every batch" in every["HF2458"].message


def test_a_marked_batch_is_published_whatever_lies_in_staging() -> None:
    """Its driver was killed while it removed what was left."""
    sink = file_sink().staged("0000000003-1-abcdef/part-0.csv").marked(3)
    assert told(sink).keys() == {"HF2459"}


def test_void_manifests_are_explained() -> None:
    """A late driver wrote them after a rewind; files of them that are seen are not the sink's."""
    query_id = query_of(STATELESS)
    rewound = Epochs(4, {query_id: 3}, (Fence(4, 3, query_id, 2, "t"),))
    late = told(file_sink().knowing(rewound))
    assert late.keys() == {"HF2442", "HF2458", "HF2454"}
    assert late["HF2458"].severity is Severity.INFO
    assert late["HF2458"].evidence["manifests"] == [f"{query_id}/0000000003.json"]
    begun = replace(rewound, unfinished=(4,))
    taken = told(file_sink().knowing(begun))
    assert taken.keys() == {"HF2442", "HF2458"}
    assert taken["HF2458"].severity is Severity.WARNING


def test_epochs_that_can_not_be_read_stop_the_next_start() -> None:
    sink = file_sink()
    sink.beside["manifests/-epochs/0000000001.epochs"] = b"[]"
    findings = told(sink)
    assert "HF2431" in findings or findings["HF2455"].severity is Severity.FATAL


def test_a_job_that_runs_now_is_left_alone() -> None:
    """It publishes, it stages, and it may be one batch further than the checkpoint was read."""
    sink = file_sink().unpublished(3).staged("0000000004-1-abcdef/part-0.csv")
    findings = found(*with_sink(files_of(STATELESS), sink, recorded=RUNS_NOW))
    assert findings["HF2451"].severity is Severity.INFO and "HF2459" not in findings
    behind = rolled_back(files_of(STATELESS), 2)
    running, stopped = ({**found(*with_sink(behind, file_sink(), recorded=one))}
                        for one in (RUNS_NOW, recorded()))  # fmt: skip
    assert "HF2441" not in running and "HF2441" in stopped
    further = found(*with_sink(rolled_back(files_of(STATELESS), 1), file_sink(),
                               recorded=RUNS_NOW))  # fmt: skip
    assert "HF2441" in further


class GoingOn(MemoryReader):
    """A checkpoint in which batches are planned after it was read."""

    def names(self, folder: str) -> frozenset[str]:
        later = {"3", "4"} if folder == "offsets" else set()
        return super().names(folder) | later


def test_a_driver_of_another_machine_may_have_planned_meanwhile() -> None:
    """Its lease does not show that it runs; the offsets, read again after the sink, do."""
    behind = rolled_back(files_of(STATELESS), 1)
    (stopped,) = with_sink(behind, file_sink())
    assert "HF2441" in found(stopped)
    running = replace(stopped, reader=GoingOn(behind, location=stopped.reader.location))
    assert "HF2441" not in found(running)


def test_an_intent_that_can_not_be_read_stops_the_next_start() -> None:
    """As the newest manifest does."""
    sink = file_sink()
    sink.beside["manifests/taking-back.json"] = b"no JSON"
    assert told(sink)["HF2455"].severity is Severity.FATAL


def test_gaps_are_told_of_each_query_by_itself() -> None:
    """The first manifest may be of any batch: a checkpoint is adopted in its middle."""
    sink = FileSink(query_of(STATELESS), [2, 3])
    other = FileSink(UUID, [0, 1, 4])
    sink.beside |= other.beside
    sink.output |= other.output
    gaps = told(sink)
    assert gaps.keys() == {"HF2456"}
    assert gaps["HF2456"].evidence == {
        "query_id": UUID, "missing": [2, 3], "count": 2, **_wrong(gaps["HF2456"]),
    }  # fmt: skip


def test_a_look_that_fails_is_told() -> None:
    """Unknown is never safe."""

    def refuse(folder: str) -> object:
        if folder == "staging":
            raise StorageError("HF7002", "access was denied")
        return file_sink().place().open_beside(folder)  # type: ignore[misc]

    whole = file_sink().place()
    place = SinkPlace(whole.location, whole.open_below, open_beside=refuse)  # type: ignore[arg-type]
    assert "access was denied" in told(place)["HF2431"].message


def test_a_ledger_that_fits_is_quiet() -> None:
    """The pending batch may be there or not."""
    pending = query_of("pending")
    newest = int(max(one.removeprefix("offsets/") for one in files_of("pending")
                     if one.startswith("offsets/") and one[8:].isdigit()))  # fmt: skip
    for held in (newest - 1, newest):
        findings = found(*with_sink(files_of("pending"), ledger({pending: held})))
        assert not {code for code in findings if code.startswith("HF244")}


def _wrong(finding: Finding) -> dict[str, object]:
    return {"wrong_fixes": finding.evidence["wrong_fixes"]}
