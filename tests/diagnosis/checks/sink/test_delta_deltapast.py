"""Past damage in Delta tables: what looks alike and is none gives no finding."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace

import pytest

from holdfast.findings import Severity
from tests.checkpoint.pictures import files_of, without
from tests.diagnosis.doctor.examining import Files, examinee, found
from tests.diagnosis.doctor.recording import recorded, run_on
from tests.diagnosis.doctor.scenarios import (
    HOUR_MS,
    UUID,
    appended_again,
    begun_again,
    delta_id,
    planned_again,
)

LOG = "_delta_log"


def version(number: int, *actions: Mapping[str, object]) -> Files:
    """Give one version of a log."""
    lines = "\n".join(json.dumps(one) for one in actions)
    return {f"{LOG}/{number:020}.json": lines.encode()}


def operation(name: str, **parameters: str) -> Mapping[str, object]:
    """Give what a writer notes of itself."""
    return {"commitInfo": {"operation": name, "operationParameters": parameters}}


def severity_of(code: str, files: Files, output: Files, *others: Files) -> Severity | None:
    """Give how bad a code is there."""
    beside = [examinee(one, path=f"/lake/other-{at}") for at, one in enumerate(others)]
    finding = found(examinee(files, output), *beside).get(code)
    return finding.severity if finding is not None else None


def edited(output: Files, old: str, new: str) -> Files:
    """Replace a text in every version."""
    return {path: data.replace(old.encode(), new.encode()) for path, data in output.items()}


def test_a_checkpoint_begun_again_is_reported_from_either_side() -> None:
    """Also where the old checkpoint was put back."""
    assert severity_of("HF2417", begun_again(), appended_again()) is Severity.ERROR
    assert severity_of("HF2417", files_of("delta", "4.2.0"), appended_again()) is Severity.ERROR


def test_two_jobs_that_write_in_turns_are_no_finding() -> None:
    """Each wrote before and after the other."""
    txn = {"txn": {"appId": delta_id(), "version": 3, "lastUpdated": 1_900_000_000_000}}
    mode = operation("STREAMING UPDATE", outputMode="Append")
    assert severity_of("HF2417", begun_again(), appended_again() | version(6, mode, txn)) is None


def test_a_job_whose_checkpoint_is_there_too_is_no_finding() -> None:
    """It was not deleted: two jobs share the table."""
    other = files_of("delta", "4.2.0")
    assert severity_of("HF2417", begun_again(), appended_again(), other) is None


def test_a_table_that_the_user_called_shared_is_a_note() -> None:
    """Rows that are there twice for certain stay an error."""
    run = run_on("delta", "4.2.0", query_id=UUID, accepted=("shared-sink",))
    for rows, severity in (("7", Severity.INFO), ("4", Severity.ERROR)):
        one = examinee(begun_again(), appended_again(rows=rows), recorded=recorded(run))
        assert found(one)["HF2417"].severity is severity
    other = replace(run, accepted=("empty-sink",))
    one = examinee(begun_again(), appended_again(rows="7"), recorded=recorded(other))
    assert found(one)["HF2417"].severity is Severity.WARNING


@pytest.mark.parametrize(
    "emptying",
    [
        operation("DELETE", predicate="[]"),
        operation("WRITE", mode="Overwrite"),
        operation("TRUNCATE"),
        operation("CREATE OR REPLACE TABLE AS SELECT"),
        operation("STREAMING UPDATE", outputMode="Complete"),
    ],
    ids=str,
)
def test_a_table_that_was_emptied_in_between_is_no_finding(emptying: Mapping[str, object]) -> None:
    """The rows of the first query are gone."""
    output = appended_again(first=4) | version(3, emptying)
    assert severity_of("HF2417", begun_again(), output) is None


def test_deleting_some_rows_is_not_emptying() -> None:
    """The rest is there twice."""
    output = appended_again(first=4) | version(3, operation("DELETE", predicate='["(a = 1)"]'))
    assert severity_of("HF2417", begun_again(), output) is Severity.ERROR


def test_an_id_that_was_closed_is_no_finding() -> None:
    """Holdfast took its batches back."""
    closing = {"txn": {"appId": delta_id(), "version": 2**63 - 1, "lastUpdated": 1}}
    output = appended_again(first=4) | version(3, operation("WRITE", mode="Append"), closing)
    assert severity_of("HF2417", begun_again(), output) is None


def test_merged_batches_double_nothing() -> None:
    """A key that is there is updated."""
    output = edited(appended_again(), '"STREAMING UPDATE"', '"MERGE"')
    assert severity_of("HF2417", begun_again(), output) is None


def test_the_digest_of_offsets_decides_where_it_is_noted() -> None:
    """The same offsets are the same rows, however they were packed; others may be."""
    note = json.dumps(json.dumps({"holdfast": 1, "offsets_digest": "d"}))[1:-1]
    with_note = f'"userMetadata":"{note}","operation":'
    noted = edited(appended_again(rows="7"), '"operation":', with_note)
    assert severity_of("HF2417", begun_again(), noted) is Severity.ERROR
    again = {path: data.replace(b'\\"d\\"', b'\\"e\\"') if UUID.encode() in data else data
             for path, data in noted.items()}  # fmt: skip
    assert severity_of("HF2417", begun_again(), again) is Severity.WARNING


def test_a_batch_that_runs_again_after_a_crash_was_planned_before() -> None:
    """Delta skips it rightly."""
    pending = without(files_of("delta", "4.2.0"), "commits/2")
    once = {path: data for path, data in appended_again().items() if UUID.encode() not in data}
    assert severity_of("HF2418", pending, once) is None
    assert severity_of("HF2418", files_of("delta", "4.2.0"), once) is None


def test_a_batch_written_again_under_the_next_name_was_not_ignored() -> None:
    """Holdfast took it back, planned it again and wrote it under another name."""
    files = planned_again(2)
    once = {path: data for path, data in appended_again().items() if UUID.encode() not in data}
    assert severity_of("HF2418", files, once) is Severity.ERROR
    written = json.loads(once[f"{LOG}/{2:020}.json"].splitlines()[1])["txn"]["lastUpdated"]
    txn = {"txn": {"appId": f"{delta_id()}#1", "version": 2, "lastUpdated": written + 2 * HOUR_MS}}
    rewritten = once | version(3, operation("WRITE", mode="Append"), txn)
    assert severity_of("HF2418", files, rewritten) is None


def test_damaged_versions_are_passed_over() -> None:
    """Another finding tells of them."""
    output = appended_again() | {f"{LOG}/{6:020}.json": b"{cut"}
    assert severity_of("HF2417", begun_again(), output) is Severity.ERROR
