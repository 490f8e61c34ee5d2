"""Every check that a picture alone can answer, in one tuple, and what frames them: what could be
seen, and whether the next start fails."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from holdfast.checkpoint.layout import checked_name
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.forecast import outcome_with
from holdfast.checkpoint.recovery.outcome import Action
from holdfast.checkpoint.releases import start_releases
from holdfast.diagnosis.checks.log.contents import (
    check_commit_sinks,
    check_commits_complete,
    check_damaged_files,
    check_offsets_complete,
    check_query_id,
    check_source_logs_complete,
)
from holdfast.diagnosis.checks.log.ids import (
    check_abandoned_state,
    check_commit_without_offsets,
    check_offsets_gaps,
    check_uncommitted_batches,
)
from holdfast.diagnosis.checks.log.names import (
    check_blocking_names,
    check_left_overs,
    check_misnamed_batches,
    check_orphan_checksums,
    check_special_files,
    check_strange_names,
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
)
from holdfast.diagnosis.checks.state.versions import (
    check_empty_state,
    check_partition_number,
    check_state_not_ahead,
    check_state_present,
    check_state_versions,
)
from holdfast.findings import Finding, Place, Severity, worst_first


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
_DAMAGED = "HF2111"


def without_consequences(findings: Iterable[Finding]) -> list[Finding]:
    """Leave out what only says once more that the next start cannot load a file."""
    given = list(findings)
    needed = {one.place.file for one in given if one.code == _NEEDED}
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
        {"releases": list(failing), "reasons": {one: told.reason for one, told in failing.items()}},
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
