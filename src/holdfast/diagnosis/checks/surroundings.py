"""Every check of the doctor that needs more than a picture: its place, its sink, its project."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from holdfast.diagnosis.checks import (
    growth,
    localplaces,
    locations,
    optimisations,
    releasefaults,
    runs,
)
from holdfast.diagnosis.checks.across import check_shared_identity, check_shared_output
from holdfast.diagnosis.checks.declared import declarations, sincelastrun
from holdfast.diagnosis.checks.declared import query as declaredquery
from holdfast.diagnosis.checks.declared import sink as declaredsink
from holdfast.diagnosis.checks.declared import sources as declaredsources
from holdfast.diagnosis.checks.declared import topics as declaredtopics
from holdfast.diagnosis.checks.log import keptoffsets
from holdfast.diagnosis.checks.log.intervals import check_compaction_interval
from holdfast.diagnosis.checks.log.temporaryfiles import check_begun_files
from holdfast.diagnosis.checks.sink import delta as deltasink
from holdfast.diagnosis.checks.sink import deltapast, manifests, ownledger
from holdfast.diagnosis.checks.sink import sparkfiles as filesink
from holdfast.diagnosis.checks.source import connectors
from holdfast.diagnosis.checks.source import delta as deltasource
from holdfast.diagnosis.checks.source import kafka as kafkasource
from holdfast.diagnosis.checks.state import contents as statecontents
from holdfast.diagnosis.checks.state import joinformat
from holdfast.diagnosis.checks.state.growth import check_state_growth
from holdfast.diagnosis.checks.state.partitions import check_partition_versions
from holdfast.diagnosis.checks.state.rockssnapshots import (
    check_snapshot_tables,
    check_unneeded_tables,
)
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
    deltapast.check_ignored_batches,
    ownledger.check_ledger_not_ahead,
    ownledger.check_ledger_not_behind,
    ownledger.check_ledger_knows_query,
    declaredsink.check_output_gone,
    declaredsink.check_same_offsets,
)
"""What the sink remembers, against the checkpoint."""

SUBJECT_CHECKS: tuple[SubjectCheck, ...] = (
    locations.check_escaped_twin,
    *SINK_CHECKS,
    manifests.check_published,
    manifests.check_published_files,
    manifests.check_unnamed_files,
    manifests.check_manifests_readable,
    manifests.check_manifest_gaps,
    manifests.check_staging,
    manifests.check_taking_back,
    locations.check_is_there,
    locations.check_fixed_path,
    locations.check_lasting_place,
    check_begun_files,
    check_snapshot_tables,
    check_unneeded_tables,
    check_partition_versions,
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
    releasefaults.check_release_faults,
    releasefaults.check_newer_logs,
    joinformat.check_join_format,
    declarations.check_pinned_declarations,
    declarations.check_provider_declared,
    declarations.check_declared_sources,
    declaredsources.check_declared_folders,
    declaredsources.check_recorded_paths,
    declaredsources.check_changed_tables,
    declaredsources.check_option_names,
    declaredtopics.check_declared_topics,
    localplaces.check_local_places,
    declarations.check_newest_files_first,
    declarations.check_data_loss_passed_over,
    declarations.check_sink_knows_batches,
    declarations.check_pending_twice,
    declaredquery.check_source_order,
    declaredquery.check_declared_operators,
    declaredquery.check_declared_keys,
    declaredquery.check_declared_aggregates,
    deltasource.check_same_table,
    deltasource.check_versions_there,
    deltasource.check_tables_readable,
    kafkasource.check_records_there,
    kafkasource.check_same_topic,
    kafkasource.check_brokers_asked,
    sincelastrun.check_output_mode,
    sincelastrun.check_starting_options,
    sincelastrun.check_same_spark,
    sincelastrun.check_sink_kind,
    runs.check_own_job,
    runs.check_driver_now,
    runs.check_killed_run,
    runs.check_failed_run,
    runs.check_failed_attempts,
    keptoffsets.check_offsets_as_kept,
    keptoffsets.check_newest_offsets_kept,
    keptoffsets.check_copies_readable,
    optimisations.advise_async_tracking,
    optimisations.advise_changelogs,
    optimisations.advise_state_format,
    optimisations.advise_retention,
    optimisations.advise_snapshots,
    optimisations.advise_compaction,
    optimisations.advise_object_store,
)

ACROSS_CHECKS: tuple[AcrossCheck, ...] = (
    check_shared_identity,
    check_shared_output,
    deltapast.check_batches_of_two_queries,
)


def check_around(subject: Subject, others: Sequence[Subject] = ()) -> list[Finding]:
    """Run every check on one checkpoint and on it among the others."""
    found = [finding for check in SUBJECT_CHECKS for finding in check(subject)]
    found += [finding for check in ACROSS_CHECKS for finding in check(subject, others)]
    return found
