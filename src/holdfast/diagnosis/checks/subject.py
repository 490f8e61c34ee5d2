"""Every check of the doctor that needs more than a picture: its place, its sink, its project."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from holdfast.diagnosis.checks import growth, location, releases, runs
from holdfast.diagnosis.checks.declared import declarations, firststart, lastrun, upsertkey
from holdfast.diagnosis.checks.declared import declarations as declaredsources
from holdfast.diagnosis.checks.declared import query as declaredquery
from holdfast.diagnosis.checks.growth import check_compaction_interval, check_state_growth
from holdfast.diagnosis.checks.location import check_shared_identity, check_shared_output
from holdfast.diagnosis.checks.log import lostentries
from holdfast.diagnosis.checks.log.lostentries import check_begun_files
from holdfast.diagnosis.checks.sink import delta, ownledger
from holdfast.diagnosis.checks.sink import delta as deltasink
from holdfast.diagnosis.checks.sink import ownledger as declaredsink
from holdfast.diagnosis.checks.sink import sparkfiles as filesink
from holdfast.diagnosis.checks.source import connectors
from holdfast.diagnosis.checks.source import connectors as deltasource
from holdfast.diagnosis.checks.source import kafka as declaredtopics
from holdfast.diagnosis.checks.source import kafka as kafkasource
from holdfast.diagnosis.checks.state import contents as statecontents
from holdfast.diagnosis.checks.state.contents import check_partition_versions
from holdfast.diagnosis.checks.state.rocksdb import check_snapshot_tables, check_unneeded_tables
from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding

SubjectCheck = Callable[[Subject], Iterator[Finding]]
AcrossCheck = Callable[[Subject, Sequence[Subject]], Iterator[Finding]]

SINK_CHECKS: tuple[SubjectCheck, ...] = (
    filesink.check_sink_memory,
    filesink.check_sink_not_ahead,
    filesink.check_sink_not_behind,
    filesink.check_sink_entries,
    filesink.check_sink_times,
    filesink.check_sink_log_size,
    filesink.check_sink_damage,
    filesink.check_output_of_spark,
    deltasink.check_table_not_ahead,
    deltasink.check_table_not_behind,
    deltasink.check_table_knows_query,
    deltasink.check_fixed_application,
    deltasink.check_table_memory,
    delta.check_ignored_batches,
    ownledger.check_ledger_not_ahead,
    ownledger.check_ledger_not_behind,
    ownledger.check_ledger_knows_query,
    declaredsink.check_output_gone,
    declaredsink.check_same_offsets,
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
    statecontents.check_recorded_operators,
    statecontents.check_state_decodes,
    statecontents.check_rows_fit_schema,
    statecontents.check_state_unread,
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
    declaredsources.check_declared_folders,
    declaredsources.check_recorded_paths,
    declaredsources.check_changed_tables,
    declaredsources.check_option_names,
    declaredtopics.check_declared_topics,
    location.check_local_places,
    declarations.check_newest_files_first,
    declarations.check_data_loss_passed_over,
    declarations.check_sink_knows_batches,
    declarations.check_pending_twice,
    declaredquery.check_source_order,
    declaredquery.check_declared_operators,
    declaredquery.check_declared_keys,
    declaredquery.check_declared_aggregates,
    upsertkey.check_upsert_key,
    firststart.check_first_start,
    deltasource.check_same_table,
    deltasource.check_versions_there,
    deltasource.check_tables_readable,
    kafkasource.check_records_there,
    kafkasource.check_same_topic,
    kafkasource.check_brokers_asked,
    lastrun.check_output_mode,
    lastrun.check_starting_options,
    lastrun.check_same_spark,
    lastrun.check_sink_kind,
    runs.check_own_job,
    runs.check_driver_now,
    runs.check_killed_run,
    runs.check_failed_run,
    runs.check_failed_attempts,
    lostentries.check_offsets_as_kept,
    lostentries.check_newest_offsets_kept,
    lostentries.check_copies_readable,
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
