"""Finds out everything about a start before it happens, and raises what forbids it.

`spark.start` calls these in the order in which they stand here. The checkpoint and the sink are
left as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator
from functools import partial
from typing import TYPE_CHECKING

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import SHOWN_BATCHES
from holdfast.diagnosis.checks.declared.declarations import (
    KINDS,
    changing_sources,
    misspelled,
    moved_folders,
    other_paths,
)
from holdfast.diagnosis.checks.picture import picture_of
from holdfast.diagnosis.inspection.keptoffsets import (
    advice,
    judge_copies,
    other_offsets,
    read_entries,
)
from holdfast.diagnosis.inspection.result import Inspection, inspection_of
from holdfast.diagnosis.inspection.sink.gone import sink_before
from holdfast.diagnosis.inspection.sourcefiles import IGNORE_MISSING
from holdfast.errors import CheckpointError, RefusedError, StorageError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.ready import ReadyJob
from holdfast.jobs.registry import remember_checkpoint
from holdfast.ledgers.identity import query_of
from holdfast.ledgers.sinkstate import LastCommitted, SinkAnswer, SinkState
from holdfast.records.folder import RecordsFolder
from holdfast.records.history import History
from holdfast.records.moments import moment_now
from holdfast.records.offsetcopies import OffsetCopies, copy_path
from holdfast.records.processes import user_here
from holdfast.records.run import SHARED_SINK, Ended, PlanFacts
from holdfast.records.statements import Statement, Statements
from holdfast.restart.acceptance import accepted_by_name
from holdfast.restart.start import StartFacts, last_run
from holdfast.running.admission import (
    emptied,
    fatal_before_start,
    written_places,
)
from holdfast.running.lostfiles import lost_before_start
from holdfast.running.options import RunContext, RunOptions
from holdfast.running.recordkeeping import facts_of_sink
from holdfast.spark.query.dataframe import apply_transform, load_sources
from holdfast.spark.query.gate import read_range
from holdfast.spark.session.existing import refuse_other_default
from holdfast.spark.session.opening import session_for
from holdfast.spark.sinks.native import NativeSink
from holdfast.spark.sinks.opening import open_sink
from holdfast.spark.sinks.sink import BatchSink, JobSink, offsets_in_sink
from holdfast.storage.location import canonical
from holdfast.storage.memory import MemoryReader
from holdfast.storage.opening import open_reader
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


_KEEP = "holdfast backup TARGET keeps what is there now"


def read_checkpoint(job: ReadyJob) -> tuple[Reader, Picture, Inspection]:
    """Open the job's checkpoint and inspect it; there may be none yet."""
    reader = open_reader(job.checkpoint, job.settings)
    formats = {source.name: source.format for source in job.sources}
    picture = picture_of(_begun(reader), may_be_missing=True)
    inspection = inspection_of(
        picture, formats=formats, shown=SHOWN_BATCHES, spark=None, verified=False, run=None
    )
    return reader, picture, inspection


def _begun(reader: Reader) -> Reader:
    """Take a folder with nothing but leftovers of a first write for what it is to Spark: empty."""
    names = reader.names("")
    if names and all(name.startswith(".") for name in names):
        return MemoryReader({}, location=reader.location)
    return reader


def build_frame(job: ReadyJob, context: RunContext) -> DataFrame:
    """Build the query of a declared job: its session, its sources, its transform."""
    session = session_for(job, context.session, context.options.settings)
    return apply_transform(session, job, load_sources(session, job))


def checked_sink(frame: DataFrame, job: ReadyJob, inspection: Inspection) -> BatchSink | NativeSink:
    """Open the sink; raise HoldfastError where it can't take these rows. Nothing is written."""
    session = frame.sparkSession
    refuse_other_default(session, job)
    sink = NativeSink(session, job) if job.sink.native else open_sink(session, job)
    sink.prepare(frame.schema, begun=inspection.batches.last_planned is not None)
    return sink


def start_facts(
    job: ReadyJob,
    context: RunContext,
    records: RecordsFolder,
    picture: Picture,
    inspection: Inspection,
    sink: JobSink,
    plan: PlanFacts,
) -> StartFacts:
    """Look at the sink, the records and the declared sources: everything that guards compare."""
    known = inspection.query_id
    sight = sink.sight(known)
    history = History(records)
    before = sink_before(history, known, inspection.batches.passed_over)
    unread = tuple(f"{error.message} ({error.at})" for error in history.damages)
    others: frozenset[str] = frozenset()
    if sight.held.answer is not SinkAnswer.BATCH:
        others = frozenset(one for one in sink.queries() if query_of(one) != known)
    settings = {**context.options.settings, **job.conf}
    last = history.newest_delivering(known)
    start = StartFacts(
        inspection=inspection,
        plan=plan,
        sight=sight,
        sink_queries=others,
        settings=settings,
        before=before,
        mode=job.sink.mode,
        recorded=None if last is None else history.left_of(last),
        recorded_query=None if last is None else last.query_id,
        unread=unread,
        master=context.session.sparkContext.master or "local",
        places=written_places(job),
        emptied=emptied(job),
        declared=tuple(_declared_sources(job, picture, records)),
        fatal=fatal_before_start(job, picture, context.versions.spark),
        current=plan.query,
        current_sink=facts_of_sink(sink, sight, job.sink, 0),
        spark=context.versions.spark,
    )
    return start.after(last_run(records, picture))


def _declared_sources(job: ReadyJob, picture: Picture, records: RecordsFolder) -> Iterator[Finding]:
    """Compare the declared sources with other jobs, with the checkpoint and with the last run."""
    yield from changing_sources(job.changed_tables)
    sources = [(one.name, one.format, one.options) for one in job.sources]
    yield from misspelled(sources, job.sink.format, job.sink.options)
    if picture.newest_offsets_id is None:
        return
    read = {one.name: one.path or one.options.get("path") for one in job.sources}
    paths = {name: path for name, path in read.items() if path is not None}
    files = {one.name for one in job.sources if KINDS.get(one.format.lower()) == "file"}
    yield from moved_folders(picture, {n: p for n, p in paths.items() if n in files}, "HF2374")
    yield from other_paths(paths, next(iter(History(records).runs(newest=1)), None))


def accepted_names(
    findings: Collection[Finding],
    accepted: Collection[str],
    records: RecordsFolder,
    query_id: str | None,
) -> tuple[str, ...]:
    """Name what was found and accepted by name, now or when the query began on a shared sink."""
    names = accepted_by_name(findings, accepted)
    if _known_as_shared(History(records), query_id):
        return tuple(sorted({*names, SHARED_SINK}))
    return names


def _known_as_shared(history: History, query_id: str | None) -> bool:
    """Whether the query began on a sink that the user said several jobs write."""
    if query_id is None:
        return False
    run = history.newest_where(lambda one: one.query_id == query_id)
    return run is not None and SHARED_SINK in run.accepted


def refuse_changed_offsets(
    inspection: Inspection, checkpoint: Reader, records: RecordsFolder, sink: JobSink
) -> None:
    """Raise HF2604 where one of the two newest entries differs from its kept copy.

    The next batch, new or run again, begins where one of these ends. Digests are compared by the
    names of the copies; only a difference has the copies read and the sink asked.
    """
    newest, query_id = inspection.batches.last_planned, inspection.query_id
    if newest is None or query_id is None:
        return
    copies = OffsetCopies(records)
    kept = copies.digests(query_id)
    present = read_entries(checkpoint, [one for one in (newest - 1, newest) if one in kept])
    changed = {one: data for one, data in present.items() if kept[one] != {_digest(data)}}
    if changed:
        raise _refusal(changed, copies, query_id, checkpoint, sink)


def refuse_other_offsets(
    inspection: Inspection, checkpoint: Reader, sink: JobSink, held: LastCommitted
) -> None:
    """Raise HF3027 where the sink holds its newest batch with other offsets than the checkpoint."""
    found = other_offsets(
        checkpoint, inspection.query_id, held.value, partial(offsets_in_sink, sink)
    )
    if found is not None:
        at = found.place.within(checkpoint.location)
        raise RefusedError(found.code, found.message, at=at)


def _refusal(
    changed: dict[int, bytes],
    copies: OffsetCopies,
    query_id: str,
    checkpoint: Reader,
    sink: JobSink,
) -> RefusedError:
    at = f"{checkpoint.location}/offsets/{max(changed)}"
    reported = " and ".join(f"offsets/{one}" for one in changed)
    reported += f" {'is' if len(changed) == 1 else 'are'} not what a run kept before it delivered"
    try:
        found = {one: copies.copy_of(query_id, one) for one in changed}
    except CheckpointError as error:
        return RefusedError("HF2604", f"{reported}; {error.message} ({error.at})", at=at)
    contents = {one: copy for one, copy in found.items() if copy is not None}
    paths = {
        one: f"{copies.location}/{copy_path(query_id, one, _digest(copy))}"
        for one, copy in contents.items()
    }
    if len(contents) < len(changed):
        return RefusedError("HF2604", f"{reported}; a kept copy is gone", at=at)
    held = partial(offsets_in_sink, sink, query_id)
    verdicts = judge_copies(checkpoint, changed, contents, held)
    steps = (*advice(verdicts[max(verdicts)], paths), _KEEP)
    return RefusedError(
        "HF2604", f"{reported}: {' and '.join(paths.values())}", at=at, next_steps=steps
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def statement_about_pending(
    inspection: Inspection,
    sink: JobSink,
    sight: SinkState,
    records: RecordsFolder,
    checkpoint: Reader,
    options: RunOptions,
) -> Statement | None:
    """Give what the user stated of the pending batch; raise RefusedError where it has to be said.

    Nothing has to be said where our last run left the batch and the sink forgets none, where the
    sink itself knows batches of this query, or where Spark's own sink runs it again as it would
    without us.
    """
    if isinstance(sink, NativeSink):
        if options.pending:
            raise _unfitting("Spark's own sink cannot be told to skip it", inspection.location)
        return None
    pending, query_id = inspection.batches.pending, inspection.query_id
    if pending is None or query_id is None:
        if options.pending is not None:
            raise _unfitting("no batch is pending", inspection.location)
        return None
    offsets = read_range(checkpoint, OffsetCopies(records), query_id, pending)
    held, said = sight.held.value, options.pending
    if said is not None and held is not None and said is not (held >= pending):
        why = f"the {sink.kind} sink says itself that it holds the query up to batch {held}"
        raise _unfitting(why, inspection.location)
    if said is not None:
        digest, *older = offsets.digests
        stated = Statement(query_id, pending, digest, said, moment_now(), user_here())
        Statements(records).write(stated, *older)
        return stated
    said_before = Statements(records).statement_about(query_id, pending, *offsets.digests)
    if said_before or held is not None:
        return said_before
    if sight.may_have_forgotten:
        message = f"batch {pending} is pending; {sight.place} forgets a query after "
        message += f"{sight.forgets_after}, so that it cannot tell whether it holds the batch"
        raise RefusedError("HF3009", message, at=inspection.location)
    if _is_ours(records, query_id, pending, offsets.entry):
        return None
    message = f"batch {pending} of the adopted checkpoint is pending, and the {sink.kind} sink "
    message += "can't tell whether it holds it"
    raise RefusedError("HF3009", message, at=inspection.location)


def refuse_lost_files(
    picture: Picture,
    sight: SinkState,
    statement: Statement | None,
    job: ReadyJob,
    frame: DataFrame,
) -> None:
    """Raise HF3034 where the batch that runs again needs files that are gone.

    Not where the sink has the batch already, and where a setting says that files may be missing.
    """
    pending, held = picture.pending, sight.held.value
    is_delivered = statement is not None and statement.delivered
    if pending is None or is_delivered or (held is not None and held >= pending):
        return
    found = lost_before_start(job, picture, missing_files_setting(frame))
    if found is not None:
        raise RefusedError(found.code, found.message, at=job.checkpoint.shown)


def missing_files_setting(frame: DataFrame) -> dict[str, str]:
    """Return the setting of a query's session that says whether files may be missing."""
    return {IGNORE_MISSING: str(frame.sparkSession.conf.get(IGNORE_MISSING, "false"))}


def _is_ours(records: RecordsFolder, query_id: str, pending: int, entry: bytes) -> bool:
    """Whether our last run planned the batch; one that began without an id made this query.

    After a run that finished nothing was pending: then somebody else planned it, unless we saw it.
    """
    for run in History(records).runs(newest=1):
        if run.query_id in (query_id, None) and run.ended is not Ended.FINISHED:
            return True
    return OffsetCopies(records).copy_of(query_id, pending) == entry


def _unfitting(why: str, at: str) -> RefusedError:
    message = f"a pending batch was stated as delivered or not, but {why}"
    return RefusedError("HF3010", message, at=at)


def remember_place(job: ReadyJob) -> Iterator[Finding]:
    """Remember where the job's checkpoint is; a project that cannot be written is reported."""
    if job.project is None:
        return
    try:
        remember_checkpoint(job.folder, job.name, canonical(job.checkpoint), job.profile)
    except StorageError as error:
        message = f"the place of the checkpoint can't be remembered: {error.message}"
        yield Finding("HF3012", Severity.INFO, message, Place("", root=error.at))


def first_batch(inspection: Inspection, statement: Statement | None) -> int:
    """Return the first batch that the run could deliver; one that was stated to be is not."""
    passed = inspection.batches.passed_over
    if statement is not None and statement.delivered:
        return statement.batch_id + 1
    return 0 if passed is None else passed + 1
