"""Every check that a picture alone can answer, in one tuple."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.diagnosis.checks.log.completeness import (
    check_commit_sinks,
    check_commits_complete,
    check_offsets_complete,
    check_source_logs_complete,
)
from holdfast.diagnosis.checks.log.damagedfiles import check_damaged_files
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
)
from holdfast.diagnosis.checks.log.progress import (
    check_batch_times,
    check_commit_watermark,
    check_known_settings,
    check_log_versions,
    check_offsets_forward,
    check_pinned_changes,
    check_repeated_entries,
    check_source_count,
    check_watermark,
)
from holdfast.diagnosis.checks.log.queryid import check_query_id
from holdfast.diagnosis.checks.log.settingvalues import check_setting_values
from holdfast.diagnosis.checks.log.strangenames import check_strange_names
from holdfast.diagnosis.checks.nextstart import check_next_start
from holdfast.diagnosis.checks.source.logs import (
    check_compact_entries,
    check_source_log_entries,
    check_source_log_whole,
    check_source_times,
)
from holdfast.diagnosis.checks.source.offsets import check_initial_offsets, check_source_offsets
from holdfast.diagnosis.checks.state.descriptions import (
    check_description_versions,
    check_operator_recorded,
    check_schema_recorded,
    check_schema_types,
)
from holdfast.diagnosis.checks.state.folders import (
    check_partition_number,
    check_state_not_ahead,
    check_state_present,
)
from holdfast.diagnosis.checks.state.operators import (
    check_operator_identity,
    check_schema_places,
    check_state_ids,
)
from holdfast.diagnosis.checks.state.versions import check_empty_state, check_state_versions
from holdfast.diagnosis.checks.wholeness import check_wholeness, without_unseen
from holdfast.findings import Finding, Severity, worst_first

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
    found = [*without_unseen((one for check in CHECKS for one in check(picture)), picture)]
    if not any(finding.severity is Severity.FATAL for finding in found):
        found += check_next_start(picture)
    return worst_first(found)
