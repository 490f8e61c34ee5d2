"""Operators of the last run whose state is gone: reported once, and never as a new query."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.findings import Severity
from tests.checkpoint.pictures import files_of, without
from tests.diagnosis.doctor.examining import Files, examined, examinee, found, output_of
from tests.diagnosis.doctor.fieldscenarios import COUNTED, COUNTING, over_source
from tests.diagnosis.doctor.recording import recorded, run_on, stateful_run_on
from tests.diagnosis.doctor.scenarios import below, declared

TWO, NAMES = "two-operators", ("sessionWindowStateStoreSaveExec", "stateStoreSave")


def told(name: str, gone: str, *operators: str) -> dict[str, tuple[str, str]]:
    """Return the fatal findings without a part of the state, with a run that kept operators."""
    runs = recorded(stateful_run_on(name, *operators)) if operators else recorded()
    findings = examined(examinee(below(files_of(name), gone), recorded=runs)).findings
    return {
        one.code: (one.place.file, one.message)
        for one in findings
        if one.severity is Severity.FATAL
    }


def test_a_deleted_state_is_missing_where_the_last_run_kept_some() -> None:
    """Named with the operator."""
    place, message = told(COUNTED, "state/", "stateStoreSave")["HF2221"]
    assert place == "state"
    assert "state is missing" in message and "operator 0 (stateStoreSave)" in message


def test_a_deleted_state_is_missing_where_a_batch_had_no_data() -> None:
    """Only a stateful query plans a batch for its watermark alone: no record is needed."""
    place, message = told("aggregation-hdfs-lz4", "state/")["HF2221"]
    assert place == "state"
    assert "batch 5 had no new data" in message


@pytest.mark.parametrize(
    ("name", "spark"),
    [("real-time", "4.2.0"), ("continuous", "4.3.0"), ("continuous", "3.5.9")],
)
def test_a_stateless_query_of_another_mode_may_plan_batches_without_data(
    name: str, spark: str
) -> None:
    """The real-time mode runs for a time, the continuous mode by a clock."""
    assert "HF2221" not in found(examinee(files_of(name, spark)))


def test_the_deleted_folder_of_the_last_operator_is_missing() -> None:
    """The one before it looks like all that there is."""
    assert not told(TWO, "state/1/")
    place, message = told(TWO, "state/1/", *NAMES)["HF2221"]
    assert place == "state/1"
    assert "operator 1 (stateStoreSave)" in message


def test_the_deleted_folder_of_another_operator_is_told_once() -> None:
    """Its number is missing without any record."""
    for names in ((), NAMES):
        findings = examined(
            examinee(
                below(files_of(TWO), "state/0/"),
                recorded=recorded(stateful_run_on(TWO, *names)),
            )
        ).findings
        assert [one.place.file for one in findings if one.code == "HF2221"] == ["state/0"]


@pytest.mark.parametrize("gone", ["state/", "state/0/"])
def test_a_query_whose_state_is_gone_is_not_told_to_drop_its_operator(gone: str) -> None:
    """The record tells that the operator is not new."""
    files = below(files_of(COUNTED), gone)
    job = replace(declared(output_mode="complete"), query=over_source(COUNTING))
    with_record = found(
        examinee(files, job=job, recorded=recorded(stateful_run_on(COUNTED, "stateStoreSave")))
    )
    assert "HF2362" not in with_record and "HF2221" in with_record
    unknown = found(examinee(files, job=job))["HF2362"]
    assert unknown.message.endswith(": an operator is new, or its state was deleted")
    assert unknown.next_steps[0] == with_record["HF2221"].next_steps[0]
    assert all(one.startswith("if the operator is new: ") for one in unknown.next_steps[1:])


def test_a_query_without_state_misses_none() -> None:
    """Nor does one that never committed a batch."""
    stateless = examinee(files_of("stateless"), recorded=recorded(run_on("stateless")))
    assert "HF2221" not in found(stateless)
    begun: Files = below(files_of("pending-first"), "state/")
    run = stateful_run_on(COUNTED, "stateStoreSave", last_batch=None)
    assert "HF2221" not in found(examinee(begun, recorded=recorded(run)))


PURGED = "aggregation-hdfs-purged"


@pytest.mark.parametrize("checksum", [True, False])
def test_a_missing_snapshot_is_named_and_not_a_change_that_spark_removed(checksum: bool) -> None:
    """Only what was left of it tells which one it was; the changes before were purged."""
    gone = ["state/0/0/4.snapshot", "state/0/0/8.snapshot"]
    if not checksum:
        gone += [one.replace("/0/0/", "/0/0/.") + ".crc" for one in gone]
    files = {path: data for path, data in files_of(PURGED).items() if path not in gone}
    findings = examined(examinee(files)).findings
    (missing,) = (one for one in findings if one.code == "HF2221")
    assert missing.severity is Severity.FATAL
    assert missing.place.file == ("state/0/0/8.snapshot" if checksum else "state/0/0")
    told = "8.snapshot is missing" if checksum else "no snapshot: one of a version from 3 to 9"
    assert told in missing.message and "1.delta" not in missing.message
    left = [one.place.file for one in findings if one.code == "HF2211"]
    assert left == (["state/0/0/.4.snapshot.crc"] if checksum else [])


@pytest.mark.parametrize("path", ["state/0/0/6.delta", "state/0/0/3.delta"])
def test_a_file_that_the_next_start_misses_is_told_once(path: str) -> None:
    """Not again as a gap between versions, nor as a checksum without its file."""
    findings = examined(examinee(without(files_of("aggregation-hdfs-lz4"), path))).findings
    assert [one.code for one in findings if one.place.file == path and one.code != "HF2317"] == [
        "HF2221"
    ]
    assert not {"HF2211", "HF2238"} & {one.code for one in findings}


def test_who_asked_the_sink_is_not_told_to_ask_it() -> None:
    """The other step stays."""
    files = without(files_of("stateless"), "commits/1")
    assert found(examinee(files))["HF2207"].next_steps[0].startswith("holdfast doctor")
    (step,) = found(examinee(files, output_of("stateless")))["HF2207"].next_steps
    assert step.startswith("compare the sink")
