"""Admits a job or refuses it before Spark is needed; its checkpoint is examined by the doctor."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast import __version__
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import SHOWN_BATCHES
from holdfast.checkpoint.releases import RELEASES
from holdfast.diagnosis.checks.declared.declarations import changing_sources
from holdfast.diagnosis.checks.location import (
    WrittenPlaces,
    emptied_output,
    emptied_place,
    on_own_disks,
)
from holdfast.diagnosis.checks.picture import picture_of
from holdfast.diagnosis.checks.records import check_taken_back
from holdfast.diagnosis.checks.subject import fatal_at_start
from holdfast.diagnosis.inspection.result import inspection_of
from holdfast.diagnosis.inspection.runs.recorded import Recorded
from holdfast.diagnosis.inspection.sources import SourcePlaces
from holdfast.diagnosis.inspection.subject import Subject, declared_at_start
from holdfast.errors import (
    CheckpointError,
    HoldfastError,
    LeaseError,
    ProjectError,
    RefusedError,
    SinkError,
    StorageError,
)
from holdfast.findings import Finding, Place, Severity, named
from holdfast.jobs.ownership import check_place
from holdfast.jobs.ready import ReadyJob, named_output
from holdfast.jobs.registry import check_remembered
from holdfast.ledgers.delta.transactions import LOG_FOLDER
from holdfast.ledgers.sparkfilesink import FORMATS
from holdfast.records.busy import is_busy
from holdfast.records.facts import SourceFacts
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.history import History
from holdfast.records.journal import interrupted, unfinished_act
from holdfast.records.leases.taking import refuse_held
from holdfast.records.moments import moment_now
from holdfast.records.processes import this_holder
from holdfast.records.retirements import Retirements
from holdfast.records.rewinds import Rewinds
from holdfast.records.run import Ended, PlanFacts
from holdfast.records.starts import Attempt, Attempts
from holdfast.restart.acceptance import refuse_unaccepted
from holdfast.restart.result import CheckedJob, checked_start
from holdfast.restart.start import StartFacts, last_run, owned_by_other
from holdfast.running.freshstart import coming_start
from holdfast.running.lostfiles import lost_before_start
from holdfast.running.report import JobEnded, JobOutcome, JobReport, Watcher, failure_record
from holdfast.storage.location import Location, parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.jobs.ready import DownstreamJob


_NO_SETTINGS: Mapping[str, str] = {}
_ASKED_SECONDS = 5.0
"""How long one look at a source may take; a start does not wait for one that does not answer."""


def fatal_before_start(
    job: ReadyJob, picture: Picture, spark: str | None, *, planned: bool = True
) -> tuple[Finding, ...]:
    """Return what the doctor calls fatal about a checkpoint that Spark `spark` is to start on."""
    if _is_new(picture):
        return ()
    read = [_Reads(one.format, {**one.options, **_path(one.path)}) for one in job.sources]
    seen = _starting(picture, spark)
    subject = Subject(
        seen,
        job.checkpoint.url,
        job.checkpoint.scheme,
        job=declared_at_start(job, spark),
        sources=_places(read, job.folder, job.checkpoint, job.settings).look(seen, None),
    )
    late = _late_state(picture, records_of(job.checkpoint, job.settings))
    found = (*late, *fatal_at_start(subject, planned=planned, passes_loss=_passes_loss(read)))
    target = job.name if job.project is not None else job.checkpoint.shown
    return tuple(named(finding, target, job.name) for finding in found)


def _late_state(picture: Picture, records: RecordsFolder) -> Iterator[Finding]:
    """Yield what is fatal about state that was written after its batch was taken back."""
    rewinds = Rewinds(records).all()
    if rewinds:
        known = Recorded(runs=tuple(History(records).runs(newest=1)), rewinds=rewinds)
        found = check_taken_back(picture, known)
        yield from (one for one in found if one.severity is Severity.FATAL)


def fatal_before_program(
    sources: Collection[SourceFacts],
    checkpoint: Location,
    settings: StorageSettings,
    picture: Picture,
    spark: str | None,
) -> tuple[Finding, ...]:
    """Return what the doctor calls fatal about the checkpoint of a program's query."""
    if _is_new(picture):
        return ()
    read = [_Reads(one.kind, {**one.identity, **one.options}) for one in sources]
    seen = _starting(picture, spark)
    places = _places(read, Path.cwd(), checkpoint, settings)
    subject = Subject(seen, checkpoint.url, checkpoint.scheme, sources=places.look(seen, None))
    found = fatal_at_start(subject, passes_loss=_passes_loss(read))
    return tuple(named(finding, checkpoint.shown, None) for finding in found)


def _is_new(picture: Picture) -> bool:
    return picture.newest_offsets_id is None and not picture.layout.items


def _starting(picture: Picture, spark: str | None) -> Picture:
    release = ".".join((spark or "").split(".")[:2])
    return replace(picture, starting_spark=release if release in RELEASES else None)


def check_unplanned(
    job: ReadyJob,
    release: str | None,
    why: str,
    accepted: Collection[str],
    settings: Mapping[str, str] = _NO_SETTINGS,
) -> CheckedJob:
    """Judge a restart without Spark: what is declared against the checkpoint.

    `settings` are those of the project.
    """
    picture = picture_of(open_reader(job.checkpoint, job.settings), may_be_missing=True)
    formats = {source.name: source.format for source in job.sources}
    inspection = inspection_of(
        picture, formats=formats, shown=SHOWN_BATCHES, spark=release, verified=False
    )
    known = PlanFacts(
        tuple(one.kind for one in inspection.sources),
        tuple(one.name or "" for one in inspection.operators),
    )
    records = records_of(job.checkpoint, job.settings)
    last = last_run(records, picture)
    start = StartFacts.without_sink(inspection, known, last, spark=release, settings=job.conf)
    fatal = fatal_before_start(job, picture, release, planned=False)
    fatal += owned_by_other(job, records)
    lost = lost_before_start(job, picture, settings)
    if lost is not None:
        fatal += (lost,)
    start = replace(start, fatal=fatal, unplanned=why)
    return checked_start(start, job=job.name, compared_with=None, accepted=accepted)


@dataclass(frozen=True)
class _Reads:
    """A source as it is read: its format, and its options with what names it."""

    format: str
    options: Mapping[str, str]

    @property
    def path(self) -> str | None:
        return self.options.get("path")


def _path(path: str | None) -> dict[str, str]:
    return {} if path is None else {"path": path}


def _passes_loss(read: Collection[_Reads]) -> bool:
    """Tell whether a source is told to go on where data is lost."""
    given = [(name.lower(), value.lower()) for one in read for name, value in one.options.items()]
    return ("failondataloss", "false") in given


def _places(
    read: Collection[_Reads], folder: Path, checkpoint: Location, settings: StorageSettings
) -> SourcePlaces:
    """Give what can be asked: Kafka's brokers, and the Delta tables that are read, where the path
    of each is known and can be reached."""
    topics = tuple(one.options for one in read if one.format.lower() == "kafka")
    kafka = (lambda: topics) if topics else None
    paths = [one.path for one in read if one.format.lower() == "delta"]
    if None in [_place(folder, checkpoint, path) for path in paths]:
        return SourcePlaces(kafka=kafka)

    def open_table(path: str) -> tuple[str, Reader]:
        log = parse_location(f"{path.rstrip('/')}/{LOG_FOLDER}", relative_to=folder)
        reader = open_reader(log, settings, timeout=None if log.is_local else _ASKED_SECONDS)
        return parse_location(path, relative_to=folder).shown, reader

    known = tuple(path for path in paths if path is not None)
    return SourcePlaces(open_table if known else None, known, kafka)


def _place(folder: Path, checkpoint: Location, path: str | None) -> Location | None:
    """Understand a path; only the checkpoint's own storage is one whose settings are known."""
    try:
        place = None if path is None else parse_location(path, relative_to=folder)
    except StorageError:
        return None
    is_known = place is not None and (place.is_local or place.scheme == checkpoint.scheme)
    return place if is_known else None


DID_NOT_RETURN = "stopped at once; its code did not return"
_REFUSALS = (CheckpointError, LeaseError, ProjectError, RefusedError)


@contextmanager
def attempt_recorded(*jobs: ReadyJob, spark: str | None = None) -> Iterator[None]:
    """Record an error that ends the start of these jobs; it is raised as it is.

    For errors before a run has a record of its own. An attempt that cannot be recorded is noted in
    the error and never hides it.
    """
    try:
        yield
    except HoldfastError as error:
        for job in jobs:
            _record(job, error, spark)
        raise


def _record(job: ReadyJob, error: HoldfastError, spark: str | None) -> None:
    holder = this_holder(None)
    records = records_of(job.checkpoint, job.settings)
    attempt = Attempt(
        at=moment_now(),
        job=job.name,
        project=job.project,
        ended=_ended(error),
        code=error.code.number,
        message=error.message,
        exit_status=error.exit_status,
        page=error.page,
        why=error.why,
        next=error.next_steps,
        place=error.at,
        host=holder.host,
        process=holder.python.number,
        user=holder.user,
        holdfast=__version__,
        spark=spark,
    )
    try:
        attempt = replace(attempt, after=History(records).newest_generation())
        # A refusal may be about the very path of the checkpoint, which then is not made.
        own = job.folder if job.project is not None and attempt.ended is Ended.FAILED else None
        Attempts(records).write(attempt, project=own)
    except StorageError as failure:
        error.unrecorded = failure


def refused_outcome(
    job: ReadyJob, error: HoldfastError, watch: Watcher, seconds: float = 0.0
) -> JobOutcome:
    """Return the outcome of a job that an error kept from starting."""
    ended = _ended(error)
    trace = getattr(error, "trace", None)
    watch(
        JobEnded(
            job=job.name,
            ended=ended,
            batches=0,
            rows=0,
            seconds=seconds,
            message=error.message,
            trace=trace,
        )
    )
    report = JobReport(
        job=job.name,
        query_id=None,
        run_id=None,
        generation=None,
        batches=0,
        rows=0,
        skipped_batches=0,
        ended=ended,
        seconds=seconds,
        checkpoint=job.checkpoint.shown,
        failure=failure_record(error),
    )
    return JobOutcome(report, error, tuple(_unrecorded(job, error)))


def _ended(error: HoldfastError) -> Ended:
    return Ended.REFUSED if isinstance(error, _REFUSALS) else Ended.FAILED


def _unrecorded(job: ReadyJob, error: HoldfastError) -> Iterator[Finding]:
    """Report that `status` and `evidence` will not show the attempt."""
    if error.unrecorded is None:
        return
    message = f"the attempt to start {job.name} could not be recorded: {error.unrecorded.message}"
    place = Place("", root=error.unrecorded.at)
    yield Finding("HF2616", Severity.INFO, message, place, {"job": job.name})


def unstarted_outcome(job: ReadyJob, watch: Watcher, ended: Ended, why: str) -> JobOutcome:
    """Return the outcome of a job that was not started although nothing is wrong with it."""
    watch(JobEnded(job.name, ended, 0, 0, 0.0, why))
    place = job.checkpoint.shown
    return JobOutcome(
        JobReport(
            job=job.name,
            query_id=None,
            run_id=None,
            generation=None,
            batches=0,
            rows=0,
            skipped_batches=0,
            ended=ended,
            seconds=0.0,
            checkpoint=place,
        )
    )


def admit(job: ReadyJob, accepted: Collection[str] = (), master: str = "local") -> None:
    """Raise HoldfastError where the job must not start; the attempt is recorded, nothing else.

    `master` is where Spark will run; the default keeps questions about it for the start.
    """
    with attempt_recorded(job):
        if job.project is not None:
            check_remembered(job)
        check_place(job, open_reader(job.checkpoint, job.settings))
        records = records_of(job.checkpoint, job.settings)
        refuse_held(records)
        refuse_half_changed(job, records)
        refuse_given_up(job, records)
        refuse_file_as_output(job)
        # Known without Spark, so that nobody waits for it; the start asks again and records it.
        local = on_own_disks(master, written_places(job), has_state=False)
        refuse_unaccepted([*changing_sources(job.changed_tables), *local], accepted, job.at)


def refuse_file_as_output(job: ReadyJob) -> None:
    """Raise HF5006 where the sink's directory is a file of this machine."""
    output = job.sink.location
    if output is not None and output.is_local and Path(output.url).is_file():
        message = f"the sink's path is a file, not a directory: {output.shown}"
        raise SinkError("HF5006", message, at=job.sink.at)


def emptied(job: ReadyJob) -> tuple[Finding, ...]:
    """Return what is said of a project's job that keeps something in a temporary directory."""
    if job.project is None:
        return ()
    folder, output = str(job.folder), job.sink.location
    places = emptied_place(job.checkpoint.url, folder) if job.checkpoint.is_local else ()
    outputs = emptied_output(output.url, folder) if output is not None and output.is_local else ()
    return (*places, *outputs)


def written_places(job: ReadyJob) -> WrittenPlaces:
    """Return where tasks of a job write on this machine."""
    output, checkpoint = job.sink.location, job.checkpoint
    return WrittenPlaces(
        output.shown if output is not None and output.is_local else None,
        checkpoint.shown if checkpoint.is_local else None,
    )


def refuse_given_up(job: ReadyJob, records: RecordsFolder) -> None:
    """Raise RefusedError where the job was retired, or a reset gave it another output."""
    retired = Retirements(records).current()
    if retired is not None:
        message = f"job {job.name} was retired at {retired.at} by {retired.by} ({retired.act})"
        raise RefusedError("HF3031", message, at=job.checkpoint.shown)
    start = coming_start(records)
    if start is not None and start.output not in (None, named_output(job)):
        message = (
            f"the reset {start.act} kept the former output as it is; the new query writes to "
            f"{start.output}, and the job is declared with {named_output(job)}"
        )
        raise RefusedError("HF3032", message, at=job.sink.at)


def refuse_half_changed(job: ReadyJob, records: RecordsFolder) -> None:
    """Raise where an act on the checkpoint is under way, or was interrupted.

    Asked before Spark starts, to fail early, and again under the lease, where the answer holds: a
    job's turn may come hours after it was admitted.
    """
    act = unfinished_act(records.place("journal"), records.reader("runs"))
    if act is None:
        return
    if is_busy(records.place("backups")):
        message = f"the {act.kind} {act.id} is running on the checkpoint"
        raise CheckpointError("HF4507", message, at=job.checkpoint.shown)
    # A job that no project file has is found by its checkpoint.
    target = job.name if job.project is not None else job.checkpoint.shown
    act_error = interrupted(act, target)
    raise CheckpointError(
        act_error.code, act_error.message, at=job.checkpoint.shown, next_steps=act_error.next_steps
    )


_BEGINS_AGAIN = frozenset({"HF3013", "HF3019"})
"""The output of earlier batches is gone, and the job starts despite it."""
_NEW_TABLE = (
    "reads it as a Delta source and fails at its next start if it has read the former table: Delta "
    "stops at a table that was created again (HF2366)"
)
_NEW_FILES = (
    "reads only the files that are written from now on; rows that it took from the former files "
    "stay in its output, and a pending batch that names them fails"
)


def affected_jobs(job: ReadyJob, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yield a warning for each job of the project that reads an output which is gone."""
    if not any(one.code in _BEGINS_AGAIN for one in findings):
        return
    for reader in job.downstream():
        effect = _effect(job.sink.format, reader)
        if effect is None:
            continue
        message = f"job {reader.job} {effect}"
        evidence = {"job": reader.job, "upstream": reader.through or job.name}
        step = f"holdfast doctor {reader.job}     (what its next start does)"
        yield Finding("HF3029", Severity.WARNING, message, Place(""), evidence, next_steps=(step,))


def _effect(written: str, reader: DownstreamJob) -> str | None:
    """Return what happens to a job; None for one behind a job that goes on."""
    if reader.through is not None:
        message = f"reads from job {reader.through} and gets no new rows while that one fails"
        return message if written == "delta" else None
    if written == reader.format == "delta":
        return _NEW_TABLE
    if written in FORMATS and (reader.format in FORMATS or reader.format == "text"):
        return _NEW_FILES
    return f"reads it with the source {reader.format}, which may depend on what is gone"
