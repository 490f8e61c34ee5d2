"""Every check of the doctor that needs more than a picture: its place, its sink, its project."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from holdfast.diagnosis.checks import growth, location, releases, runs
from holdfast.diagnosis.checks.declared import declarations, lastrun, query
from holdfast.diagnosis.checks.growth import check_compaction_interval, check_state_growth
from holdfast.diagnosis.checks.location import check_shared_identity, check_shared_output
from holdfast.diagnosis.checks.runs import check_begun_files
from holdfast.diagnosis.checks.sink import delta, ownledger, sparkfiles
from holdfast.diagnosis.checks.source import connectors
from holdfast.diagnosis.checks.state import contents
from holdfast.diagnosis.checks.state.contents import check_partition_versions
from holdfast.diagnosis.checks.state.rocksdb import check_snapshot_tables, check_unneeded_tables
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding

SubjectCheck = Callable[[Subject], Iterator[Finding]]
AcrossCheck = Callable[[Subject, Sequence[Subject]], Iterator[Finding]]

SINK_CHECKS: tuple[SubjectCheck, ...] = (
    sparkfiles.check_sink_memory,
    sparkfiles.check_sink_not_ahead,
    sparkfiles.check_sink_not_behind,
    sparkfiles.check_sink_entries,
    sparkfiles.check_sink_times,
    sparkfiles.check_sink_log_size,
    sparkfiles.check_sink_damage,
    sparkfiles.check_output_of_spark,
    delta.check_table_not_ahead,
    delta.check_table_not_behind,
    delta.check_table_knows_query,
    delta.check_fixed_application,
    delta.check_table_memory,
    delta.check_ignored_batches,
    ownledger.check_ledger_not_ahead,
    ownledger.check_ledger_not_behind,
    ownledger.check_ledger_knows_query,
    ownledger.check_output_gone,
    ownledger.check_same_offsets,
)
"""What the sink remembers, against the checkpoint."""

SUBJECT_CHECKS: tuple[SubjectCheck, ...] = (
    location.check_escaped_twin,
    *SINK_CHECKS,
    ownledger.check_published,
    ownledger.check_published_files,
    ownledger.check_unnamed_files,
    ownledger.check_manifests_readable,
    ownledger.check_manifest_gaps,
    ownledger.check_staging,
    ownledger.check_taking_back,
    location.check_is_there,
    location.check_fixed_path,
    location.check_lasting_place,
    check_begun_files,
    check_snapshot_tables,
    check_unneeded_tables,
    check_partition_versions,
    contents.check_recorded_operators,
    contents.check_state_decodes,
    contents.check_rows_fit_schema,
    contents.check_state_unread,
    growth.check_source_log_size,
    growth.check_changes_since_snapshot,
    check_state_growth,
    growth.check_connector_logs,
    check_compaction_interval,
    connectors.check_idle_delta_source,
    connectors.check_kinesis_shards,
    releases.check_release_faults,
    releases.check_newer_logs,
    releases.check_join_format,
    declarations.check_pinned_declarations,
    declarations.check_provider_declared,
    declarations.check_declared_sources,
    declarations.check_declared_folders,
    declarations.check_recorded_paths,
    declarations.check_changed_tables,
    declarations.check_option_names,
    connectors.check_declared_topics,
    location.check_local_places,
    declarations.check_newest_files_first,
    declarations.check_data_loss_passed_over,
    declarations.check_sink_knows_batches,
    declarations.check_pending_twice,
    query.check_source_order,
    query.check_declared_operators,
    query.check_declared_keys,
    query.check_declared_aggregates,
    query.check_upsert_key,
    lastrun.check_first_start,
    connectors.check_same_table,
    connectors.check_versions_there,
    connectors.check_tables_readable,
    connectors.check_records_there,
    connectors.check_same_topic,
    connectors.check_brokers_asked,
    lastrun.check_output_mode,
    lastrun.check_starting_options,
    lastrun.check_same_spark,
    lastrun.check_sink_kind,
    runs.check_own_job,
    runs.check_driver_now,
    runs.check_killed_run,
    runs.check_failed_run,
    runs.check_failed_attempts,
    runs.check_offsets_as_kept,
    runs.check_newest_offsets_kept,
    runs.check_copies_readable,
    growth.advise_async_tracking,
    growth.advise_changelogs,
    growth.advise_state_format,
    growth.advise_retention,
    growth.advise_snapshots,
    growth.advise_compaction,
    growth.advise_object_store,
)

ACROSS_CHECKS: tuple[AcrossCheck, ...] = (
    check_shared_identity,
    check_shared_output,
    delta.check_batches_of_two_queries,
)


def check_around(subject: Subject, others: Sequence[Subject] = ()) -> list[Finding]:
    """Run every check on one checkpoint and on it among the others."""
    found = [finding for check in SUBJECT_CHECKS for finding in check(subject)]
    found += [finding for check in ACROSS_CHECKS for finding in check(subject, others)]
    return found
