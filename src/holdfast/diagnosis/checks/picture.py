"""Every check that a picture alone can answer, in one tuple, and the answer of `inspect`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.answers import Answer
from holdfast.checkpoint.layout import checked_name
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.progress import Formats
from holdfast.checkpoint.reading import SHOWN_BATCHES, read_picture
from holdfast.checkpoint.recovery.forecast import outcome_with
from holdfast.checkpoint.recovery.outcome import Action, NextStart
from holdfast.checkpoint.releases import at_least, start_releases
from holdfast.checkpoint.verification import Progress, verify
from holdfast.diagnosis.checks.log.contents import (
    check_commit_sinks,
    check_commits_complete,
    check_damaged_files,
    check_offsets_complete,
    check_query_id,
    check_source_logs_complete,
)
from holdfast.diagnosis.checks.log.names import (
    check_abandoned_state,
    check_blocking_names,
    check_commit_without_offsets,
    check_left_overs,
    check_misnamed_batches,
    check_offsets_gaps,
    check_orphan_checksums,
    check_special_files,
    check_strange_names,
    check_uncommitted_batches,
)
from holdfast.diagnosis.checks.log.progress import (
    check_batch_times,
    check_commit_watermark,
    check_known_settings,
    check_log_versions,
    check_offsets_forward,
    check_pinned_changes,
    check_repeated_entries,
    check_setting_values,
    check_source_count,
    check_watermark,
)
from holdfast.diagnosis.checks.records import with_records
from holdfast.diagnosis.checks.source.offsets import (
    check_compact_entries,
    check_initial_offsets,
    check_source_log_entries,
    check_source_log_whole,
    check_source_offsets,
    check_source_times,
)
from holdfast.diagnosis.checks.state.operators import (
    check_description_versions,
    check_operator_identity,
    check_operator_recorded,
    check_schema_places,
    check_schema_recorded,
    check_schema_types,
    check_state_ids,
    lost_state,
)
from holdfast.diagnosis.checks.state.versions import (
    check_empty_state,
    check_partition_number,
    check_state_not_ahead,
    check_state_present,
    check_state_versions,
)
from holdfast.diagnosis.inspection.result import Inspection, Sink, inspection_of
from holdfast.diagnosis.inspection.runs.recorded import Recall, Recorded, nothing
from holdfast.errors import NotFoundError
from holdfast.findings import Finding, Place, Severity, worst_first
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.ledgers.reading import SinkPlace


def check_wholeness(picture: Picture) -> Iterator[Finding]:
    """Report folders that could not be listed, large files left unread, and movement."""
    for folder, error in (picture.unlisted or {}).items():
        yield Finding(
            "HF2230",
            Severity.ERROR,
            f"{folder or 'the checkpoint'} could not be listed: {error.message}",
            Place(folder),
            {"code": error.code.number},
        )
    for path in picture.unread:
        message = f"{path} has {picture.layout.items[path].size:,} bytes and was not read"
        yield Finding("HF2234", Severity.INFO, message, Place(path))
    if picture.moved:
        yield Finding(
            "HF2231",
            Severity.INFO,
            "a query wrote to the checkpoint while it was read: this is a snapshot of one moment",
            Place("offsets"),
        )


def without_unseen(findings: Iterable[Finding], picture: Picture) -> Iterator[Finding]:
    """Yield the findings that do not rest on a folder that could not be listed whole.

    What is missing from a partial listing may be there: only files that were read are judged.
    """
    hidden = {folder.partition("/")[0] for folder in picture.unlisted or {}}
    damaged = {damage.file for damage in picture.damages}
    for finding in findings:
        file = finding.place.file
        if finding.code == "HF2230" or file in damaged or file.partition("/")[0] not in hidden:
            yield finding


_NEEDED, _MISSING_TOO = "HF2221", frozenset({"HF2211", "HF2238"})
_LOST = frozenset({_NEEDED, "HF2314"})
_DAMAGED = "HF2111"


def without_consequences(findings: Iterable[Finding]) -> list[Finding]:
    """Leave out what only says once more that the next start cannot load a file."""
    given = list(findings)
    needed = {one.place.file for one in given if one.code in _LOST}
    damaged = {one.place.file for one in given if _is_fatal_damage(one)}
    return [
        one
        for one in given
        if (one.code != _NEEDED or one.place.file not in damaged)
        and (
            one.code not in _MISSING_TOO
            or (checked_name(one.place.file) or one.place.file) not in needed
        )
    ]


def _is_fatal_damage(finding: Finding) -> bool:
    return finding.code == _DAMAGED and finding.severity is Severity.FATAL


def check_next_start(picture: Picture) -> Iterator[Finding]:
    """Report that the next start fails, with the releases of Spark on which it does."""
    if picture.moved or picture.access_failure is not None:
        # What could not be seen may be there: only what was seen whole is judged.
        return
    releases = start_releases(picture)
    outcomes = {release: outcome_with(picture, release) for release in releases}
    failing = {one: outcome for one, outcome in outcomes.items() if outcome.action is Action.FAIL}
    if not failing:
        return
    with_which = "" if len(failing) == len(releases) else f" with Spark {', '.join(failing)}"
    reason = failing[max(failing, key=releases.index)].reason
    planned = picture.newest_offsets_id
    yield Finding(
        "HF2246",
        Severity.FATAL,
        f"the next start fails{with_which}: {reason}",
        Place("offsets" if planned is None else f"offsets/{planned}"),
        {
            "releases": list(failing),
            "reasons": {one: fault.reason for one, fault in failing.items()},
        },
    )


Check = Callable[[Picture], Iterator[Finding]]

CHECKS: tuple[Check, ...] = (
    check_wholeness,
    check_damaged_files,
    check_query_id,
    check_offsets_complete,
    check_commits_complete,
    check_commit_sinks,
    check_source_logs_complete,
    check_commit_without_offsets,
    check_abandoned_state,
    check_offsets_gaps,
    check_uncommitted_batches,
    check_blocking_names,
    check_misnamed_batches,
    check_strange_names,
    check_source_count,
    check_offsets_forward,
    check_source_log_whole,
    check_source_log_entries,
    check_compact_entries,
    check_source_times,
    check_source_offsets,
    check_initial_offsets,
    check_watermark,
    check_commit_watermark,
    check_batch_times,
    check_pinned_changes,
    check_known_settings,
    check_setting_values,
    check_log_versions,
    check_repeated_entries,
    check_state_present,
    check_state_versions,
    check_empty_state,
    check_state_not_ahead,
    check_partition_number,
    check_operator_identity,
    check_schema_places,
    check_state_ids,
    check_operator_recorded,
    check_schema_recorded,
    check_description_versions,
    check_schema_types,
    check_special_files,
    check_orphan_checksums,
    check_left_overs,
)


def check_picture(picture: Picture) -> tuple[Finding, ...]:
    """Run every check, the worst findings first."""
    given = (one for check in CHECKS for one in check(picture))
    found = without_consequences(without_unseen(given, picture))
    if not any(finding.severity is Severity.FATAL for finding in found):
        found += check_next_start(picture)
    return worst_first(found)


VERIFIED_HISTORY = 1000
"""How many of the newest batches are compared with each other when everything is verified."""


def inspect_checkpoint(
    reader: Reader,
    *,
    formats: Formats | None = None,
    shown: int = SHOWN_BATCHES,
    spark: str | None = None,
    verified: bool = False,
    may_be_missing: bool = False,
    recall: Recall = nothing,
    sink: SinkPlace | None = None,
    progress: Progress | None = None,
) -> Answer[Inspection]:
    """Return what is in a checkpoint and what the next start does; nothing is written.

    `verified` reads every file and compares it with its checksums, not only what the next start
    needs. `may_be_missing` takes a place that is not there for a job that never ran. `sink` is
    asked what it holds.
    """
    history = max(shown, VERIFIED_HISTORY) if verified else shown
    recorded = recall()
    picture = picture_of(reader, history=history, may_be_missing=may_be_missing)
    picture = replace(picture, starting_spark=spark)
    foretold = picture
    if verified:
        picture = verify(reader, picture, progress)
        foretold, found = _with_snapshots(reader, picture)
    else:
        found = check_picture(picture)
    result = inspection_of(
        foretold,
        formats=formats or {},
        shown=shown,
        spark=spark,
        verified=verified,
        run=recorded.run_of(picture),
    )
    lost = _lost_operators(picture, recorded, found)
    if lost:
        result = replace(result, next_start=_failing(result.next_start, lost[0].message))
    return Answer(
        command="inspect",
        location=picture.location,
        result=result if sink is None else replace(result, sink=_asked(result, sink)),
        findings=worst_first(with_records((*found, *lost), picture, recorded)),
    )


def _lost_operators(
    picture: Picture, recorded: Recorded, found: Iterable[Finding]
) -> tuple[Finding, ...]:
    """Return that the last run kept state which is gone, where the files alone do not show it."""
    if not recorded.runs or picture.is_unlisted("state") or picture.moved:
        return ()
    if any(one.code == _NEEDED and one.place.file.startswith("state") for one in found):
        return ()
    from holdfast.diagnosis.inspection.runs.lastquery import recorded_operators

    names = recorded_operators(recorded, picture)
    return tuple(lost_state(picture.layout.state.operators, names))


def _failing(start: NextStart, reason: str) -> NextStart:
    """Return a start that fails for want of state, where one of the files alone would not."""
    if start.action is Action.FAIL:
        return start
    touched = not at_least(start.assumes_spark, "4.2")
    return replace(start, action=Action.FAIL, reason=reason, sink_touched=touched, differs=())


def _with_snapshots(reader: Reader, picture: Picture) -> tuple[Picture, tuple[Finding, ...]]:
    """Look into every RocksDB snapshot; return the picture with those that can't be loaded, and
    what is found, judged by the tables that they name."""
    # Only who verifies waits for it.
    from holdfast.diagnosis.checks.state.rocksdb import (
        all_snapshots,
        check_snapshot_tables,
        judged_by_snapshots,
        snapshot_damages,
    )
    from holdfast.diagnosis.inspection.subject import Subject

    read = reader.read_many(all_snapshots(picture))
    snapshots = {path: data for path, data in read.items() if isinstance(data, bytes)}
    subject = Subject(picture, picture.location, snapshots=snapshots)
    found = [judged_by_snapshots(finding, subject) for finding in check_picture(picture)]
    found += without_unseen(check_snapshot_tables(subject), picture)
    found = without_consequences(found)
    return picture.with_damages(snapshot_damages(picture, snapshots)), tuple(found)


def _asked(found: Inspection, place: SinkPlace) -> Sink:
    """Ask the sink; where it gives no answer, what is known otherwise stays."""
    known = found.sink or Sink(place.kind, place.location, None, "declared")
    memory = place.ask()
    last = memory.last_committed(found.query_id)
    if memory.own is None:
        return replace(known, asked=last.basis)
    return replace(known, last_committed=last.value, basis="asked", asked=last.basis)


def picture_of(
    reader: Reader, *, history: int = SHOWN_BATCHES, may_be_missing: bool = False
) -> Picture:
    """Return the picture of a checkpoint, an empty one where it may be missing and is."""
    try:
        return read_picture(reader, history=history)
    except NotFoundError:
        if not may_be_missing:
            raise
    return read_picture(MemoryReader({}, location=reader.location), history=history)
