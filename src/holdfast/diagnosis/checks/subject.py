"""Every check of the doctor that needs more than a picture, and what all checks find together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from holdfast.diagnosis.checks import growth, location, releases, runs
from holdfast.diagnosis.checks.declared import declarations, lastrun, query
from holdfast.diagnosis.checks.growth import check_compaction_interval, check_state_growth
from holdfast.diagnosis.checks.location import check_shared_identity, check_shared_output
from holdfast.diagnosis.checks.picture import check_picture, without_consequences, without_unseen
from holdfast.diagnosis.checks.records import with_records
from holdfast.diagnosis.checks.runs import check_begun_files
from holdfast.diagnosis.checks.sink import delta, ownledger, sparkfiles
from holdfast.diagnosis.checks.source import connectors
from holdfast.diagnosis.checks.state import contents
from holdfast.diagnosis.checks.state.contents import check_partition_versions
from holdfast.diagnosis.checks.state.operators import judged_by_old_place
from holdfast.diagnosis.checks.state.rocksdb import (
    check_snapshot_tables,
    check_unneeded_tables,
    judged_by_snapshots,
)
from holdfast.diagnosis.inspection.keptoffsets import with_kept_copy
from holdfast.diagnosis.inspection.subject import DeclaredJob, Subject, with_loadable_batch
from holdfast.findings import Finding, Severity, worst_first

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
    connectors.check_pending_files,
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


_BY_PLAN = frozenset({"HF2323", "HF2324", "HF2362"})
"""Number, kinds and folders of sources, and operators: a start knows them from Spark's plan, where
the doctor has only the declaration."""
_ASK_THE_SINK = "holdfast doctor TARGET --sink PATH"
_DATA_LOSS = frozenset({"HF2325", "HF2367", "HF2369"})
"""What a source with failOnDataLoss=false passes over without an error."""


def unknown_place(_path: str) -> bool | None:
    """Look nowhere outside of the checkpoint."""
    return None


def findings_about(
    subject: Subject,
    others: Sequence[Subject] = (),
    exists_at: Callable[[str], bool | None] = unknown_place,
) -> list[Finding]:
    """Run every check on one checkpoint, and judge what they find by everything that is known."""
    picture, recorded = subject.picture, subject.recorded
    found = list(with_records(check_picture(picture), picture, recorded))
    if recorded.act is not None:
        return found
    found_all = without_consequences([*found, *check_around(subject, others)])
    return keeping_stopped(_judged(found_all, subject, exists_at))


def keeping_stopped(findings: Sequence[Finding]) -> list[Finding]:
    """Let the report of a failed run not advise a start that another finding forbids."""
    if not any(one.severity is Severity.FATAL for one in findings):
        return list(findings)
    return [_without_start(one) if one.code == "HF2346" else one for one in findings]


def _without_start(finding: Finding) -> Finding:
    return replace(finding, next_steps=_without_starting(finding.next_steps))


def _without_starting(steps: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for one in steps if not one.startswith(_START))


_START = ("start the job again", "start the jobs again")


def fatal_at_start(
    subject: Subject, *, planned: bool = True, passes_loss: bool = False
) -> tuple[Finding, ...]:
    """Return the fatal findings that a start would run into, the worst first.

    What a start compares by itself is left out: its sink, its records, and what Spark's plan tells,
    where the query was planned. With `passes_loss` a source goes on where its data is lost.
    """
    found = [*check_picture(subject.picture), *check_around(subject)]
    by_plan = _BY_PLAN if planned else frozenset[str]()
    passes = passes_loss or _passes_data_loss(subject.job)
    left_out = by_plan | (_DATA_LOSS if passes else frozenset())
    return worst_first(
        finding
        for finding in _judged(found, subject, unknown_place)
        if finding.severity is Severity.FATAL and finding.code not in left_out
    )


def _judged(
    found: Sequence[Finding], subject: Subject, exists_at: Callable[[str], bool | None]
) -> list[Finding]:
    return [
        judged_by_old_place(
            with_loadable_batch(
                with_kept_copy(
                    judged_by_snapshots(_with_the_sink_asked(finding, subject), subject),
                    subject.kept,
                ),
                subject.state,
                subject.picture,
            ),
            exists_at,
        )
        for finding in without_unseen(found, subject.picture)
    ]


def _with_the_sink_asked(finding: Finding, subject: Subject) -> Finding:
    """Return a finding that does not advise to ask the sink, where this look has asked it."""
    if subject.sink is None or not any(map(_asks_the_sink, finding.next_steps)):
        return finding
    return replace(finding, next_steps=_without_asking(finding.next_steps))


def _without_asking(steps: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(one for one in steps if not _asks_the_sink(one))


def _asks_the_sink(step: str) -> bool:
    return step.startswith(_ASK_THE_SINK)


def _passes_data_loss(job: DeclaredJob | None) -> bool:
    return any(value == "false" for value in _loss_options(job))


def _loss_options(job: DeclaredJob | None) -> Iterator[str]:
    for source in job.job.named_sources.values() if job is not None else ():
        for name, value in source.options.items():
            if name.lower() == "failondataloss":
                yield value.lower()
