"""Examines checkpoints, also all below a base folder, with their sinks and jobs, and tells what
is wrong, the worst first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from holdfast.answers import Answer
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import SHOWN_BATCHES, read_picture
from holdfast.checkpoint.verification import Progress, verify
from holdfast.diagnosis.checks.location import escaped_path
from holdfast.diagnosis.checks.picture import CHECKS, VERIFIED_HISTORY
from holdfast.diagnosis.checks.records import RECORDS_CHECKS
from holdfast.diagnosis.checks.state.rocksdb import snapshots_to_read
from holdfast.diagnosis.checks.subject import (
    ACROSS_CHECKS,
    SUBJECT_CHECKS,
    findings_about,
    unknown_place,
)
from holdfast.diagnosis.doctor.examination import Examination, Examined, SinkSeen, reported
from holdfast.diagnosis.doctor.state import compare_state, look_at_state
from holdfast.diagnosis.doctor.wrongfixes import with_wrong_fixes
from holdfast.diagnosis.inspection.keptoffsets import look_at_kept, other_offsets
from holdfast.diagnosis.inspection.runs.recorded import Recall, Recorded, nothing
from holdfast.diagnosis.inspection.sink.deltacommits import look_at_history
from holdfast.diagnosis.inspection.sourcefiles import NOTHING_LOOKED_FOR
from holdfast.diagnosis.inspection.sources import NO_SOURCE_PLACES, SourcePlaces, SourcesSeen
from holdfast.diagnosis.inspection.subject import DeclaredJob, Subject
from holdfast.errors import HoldfastError, NotFoundError, StorageError
from holdfast.findings import Finding, Place, Severity, named, rooted, worst, worst_first
from holdfast.ledgers.files.outputcheck import OutputState
from holdfast.ledgers.reading import SinkMemory, SinkPlace
from holdfast.ledgers.sinkstate import SinkState, unknown_offsets
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Reader

CHECK_COUNT = len(CHECKS) + len(RECORDS_CHECKS) + len(SUBJECT_CHECKS) + len(ACROSS_CHECKS)


@dataclass(frozen=True)
class Examinee:
    """One checkpoint to examine, opened but not read yet."""

    target: str
    reader: Reader
    path: str
    """The whole path or URL."""
    scheme: str = "file"
    open_folder: Callable[[str], Reader] | None = None
    """Opens another folder of the same storage, which is asked for names only, and seldom."""
    sink: SinkPlace | None = None
    job: DeclaredJob | None = None
    recall: Recall = nothing
    """Looks at the records beside it."""
    exists_at: Callable[[str], bool | None] = unknown_place
    """Whether a file exists at a path outside of the checkpoint; None where nobody can tell."""
    sources: SourcePlaces = NO_SOURCE_PLACES
    """Where its sources are."""


@dataclass(frozen=True)
class Unopened:
    """A target that could not even be opened."""

    target: str
    error: HoldfastError


@dataclass(frozen=True)
class Choice:
    """Which codes count; no `only` means all."""

    only: frozenset[str] = frozenset()
    ignore: frozenset[str] = frozenset()

    def takes(self, code: str) -> bool:
        """Return whether findings of this code are wanted."""
        return code not in self.ignore and (not self.only or code in self.only)


@dataclass
class _Read:
    """What became of one examinee: a subject, or an error."""

    examinee: Examinee | Unopened
    subject: Subject | None = None
    error: HoldfastError | None = None
    findings: list[Finding] = field(default_factory=list)


def examine(
    examinees: Sequence[Examinee | Unopened],
    *,
    choice: Choice | None = None,
    spark: str | None = None,
    verified: bool = False,
    progress: Progress | None = None,
) -> Answer[Examination]:
    """Run every check at every target; nothing is written.

    A single target that can't be read raises its error; among several it is reported, and the
    others go on. `spark` is the release that the next start is judged with; without it, every
    release that may have written a checkpoint.
    """
    read = [_read(one, spark, verified, progress) for one in examinees]
    if len(read) == 1 and read[0].error is not None:
        raise read[0].error
    subjects = [one.subject for one in read if one.subject is not None]
    wanted = choice or Choice()
    examined, all_findings = [], []
    for one in read:
        findings = _findings(one, [other for other in subjects if other is not one.subject], wanted)
        examined.append(_examined(one, findings))
        all_findings += [rooted(finding, _location(one)) for finding in findings]
    location = examined[0].location if len(examined) == 1 else ""
    result = Examination(CHECK_COUNT, tuple(examined))
    ordered = worst_first(all_findings)
    return Answer("doctor", location, result, ordered, _next_steps(ordered))


def examined_subject(examinee: Examinee) -> tuple[Subject, tuple[Finding, ...]]:
    """Return everything around one checkpoint, and what is wrong with it, the worst first.

    Raise HoldfastError where it cannot be read.
    """
    read = _read(examinee, None, False, None)
    if read.subject is None:
        assert read.error is not None
        raise read.error
    return read.subject, _findings(read, [], Choice())


def _read(
    examinee: Examinee | Unopened, spark: str | None, verified: bool, progress: Progress | None
) -> _Read:
    if isinstance(examinee, Unopened):
        return _Read(examinee, error=examinee.error)
    recorded = examinee.recall()
    try:
        picture, is_there = _picture(examinee, verified)
        picture = replace(picture, starting_spark=spark)
        if verified and is_there:
            picture = verify(examinee.reader, picture, progress)
        picture, compared = compare_state(examinee.reader, picture, verified=verified)
    except HoldfastError as error:
        return _Read(examinee, error=error)
    subject = _subject(examinee, picture, recorded, verified, progress, compared)
    return _Read(examinee, replace(subject, is_there=is_there))


def _picture(examinee: Examinee, verified: bool) -> tuple[Picture, bool]:
    """Read the checkpoint, and tell whether it is there."""
    history = VERIFIED_HISTORY if verified else SHOWN_BATCHES
    try:
        return read_picture(examinee.reader, history=history), True
    except NotFoundError:
        if examinee.job is None and (examinee.sink is None or not examinee.sink.given):
            raise
    # What was never started has no checkpoint yet, but a sink that may remember another.
    nothing_there = MemoryReader({}, location=examinee.reader.location)
    return read_picture(nothing_there, history=history), False


def _subject(
    examinee: Examinee,
    picture: Picture,
    recorded: Recorded,
    verified: bool,
    progress: Progress | None,
    compared: int,
) -> Subject:
    sink, output = _sink(examinee.sink, picture, verified)
    read = examinee.reader.read_many(snapshots_to_read(picture, everything=verified))
    snapshots = {path: data for path, data in read.items() if isinstance(data, bytes)}
    return Subject(
        picture=picture,
        path=examinee.path,
        scheme=examinee.scheme,
        sink=sink,
        job=examinee.job,
        twin=_twin(examinee),
        snapshots=snapshots,
        recorded=recorded,
        kept=look_at_kept(
            recorded,
            picture,
            examinee.reader,
            sink.offsets_of if sink is not None else unknown_offsets,
        ),
        state=look_at_state(
            examinee.reader,
            picture,
            snapshots,
            verified=verified,
            progress=progress,
            compared=compared,
        ),
        output=output,
        table=look_at_history(examinee.sink, sink, picture, verified=verified),
        planned_since=_planned_since(examinee.reader, picture, sink),
        sight=_sight(examinee, picture),
        other_offsets=_other_offsets(examinee.reader, picture, sink),
        sources=_sources(examinee, picture, recorded),
    )


def _sources(examinee: Examinee, picture: Picture, recorded: Recorded) -> SourcesSeen:
    """Look at the sources; files of a batch that was committed meanwhile may be gone."""
    seen = examinee.sources.look(picture, recorded.run_of(picture))
    if not seen.files.gone:
        return seen
    try:
        is_committed = str(picture.pending) in examinee.reader.names("commits")
    except StorageError:
        return seen
    return replace(seen, files=NOTHING_LOOKED_FOR) if is_committed else seen


def _sight(examinee: Examinee, picture: Picture) -> SinkState | None:
    query_id = None if picture.query is None else picture.query.id
    return None if examinee.sink is None else examinee.sink.see(query_id)


def _other_offsets(reader: Reader, picture: Picture, sink: SinkMemory | None) -> Finding | None:
    """Compare the newest batch of the sink with the checkpoint, as a start does."""
    if sink is None or picture.query is None:
        return None
    newest = sink.last_committed(picture.query.id).value
    return other_offsets(reader, picture.query.id, newest, sink.offsets_of)


def _planned_since(reader: Reader, picture: Picture, sink: SinkMemory | None) -> int | None:
    """Return the newest planned batch, looked at again, where the sink holds a later one."""
    query, planned = picture.query, picture.newest_offsets_id
    held = sink.last_committed(query.id).value if sink is not None and query is not None else None
    if held is None or held <= (-1 if planned is None else planned):
        return None
    try:
        names = reader.names("offsets")
    except StorageError:
        return None
    return max((int(name) for name in names if name.isascii() and name.isdigit()), default=-1)


def _sink(
    place: SinkPlace | None, picture: Picture, verified: bool
) -> tuple[SinkMemory | None, OutputState | None]:
    """Ask the sink, and look at what lies beside its folder where it is a file sink of ours."""
    if place is None:
        return None, None
    memory = place.ask(picture.offsets.keys())
    try:
        return memory, place.look(memory, all_files=verified)
    except StorageError as failure:
        return replace(memory, failure=memory.failure or failure), None


def _twin(examinee: Examinee) -> str | None:
    """Look for a twin only where the path can have one; what can't be listed has none to tell."""
    twin = escaped_path(examinee.path)
    if examinee.open_folder is None or twin == examinee.path.rstrip("/"):
        return None
    folder, _, name = twin.rpartition("/")
    try:
        return twin if name in examinee.open_folder(folder or "/").names("") else None
    except StorageError:
        return None


def _findings(one: _Read, others: list[Subject], choice: Choice) -> tuple[Finding, ...]:
    if one.subject is None:
        assert one.error is not None
        found = [_unreadable(one.error)]
    else:
        assert isinstance(one.examinee, Examinee)
        found = findings_about(one.subject, others, one.examinee.exists_at)
    target = one.examinee.target
    job = one.examinee.job if isinstance(one.examinee, Examinee) else None
    message = [with_wrong_fixes(finding) for finding in found if choice.takes(finding.code)]
    return worst_first(named(finding, target, job.name if job else None) for finding in message)


def _unreadable(error: HoldfastError) -> Finding:
    return Finding(
        error.code.number,
        Severity.ERROR,
        error.message,
        Place("", root=error.at) if error.at is not None else Place(""),
        {"readable": False},
        error.why,
        error.next_steps,
    )


def _examined(one: _Read, findings: tuple[Finding, ...]) -> Examined:
    location, subject = _location(one), one.subject
    job = one.examinee.job if isinstance(one.examinee, Examinee) else None
    return Examined(
        target=one.examinee.target,
        location=location,
        job=job.name if job is not None else None,
        readable=subject is not None,
        query_id=subject.query_id if subject is not None else None,
        last_planned=subject.picture.newest_offsets_id if subject is not None else None,
        last_committed=subject.picture.newest_commit_id if subject is not None else None,
        sink=_sink_seen(subject) if subject is not None else None,
        worst=worst(findings),
        findings=reported(findings, location),
    )


def _sink_seen(subject: Subject) -> SinkSeen | None:
    sink = subject.sink
    if sink is None:
        return None
    started = subject.recorded.started
    recorded = started.query_id if started is not None else None
    last = sink.last_committed(subject.query_id or recorded)
    readable = sink.failure is None
    return SinkSeen(sink.location, sink.kind, last.value, last.basis, readable)


def _location(one: _Read) -> str:
    if isinstance(one.examinee, Unopened):
        return one.examinee.error.at or one.examinee.target
    return one.examinee.reader.location


def _next_steps(findings: Collection[Finding]) -> tuple[str, ...]:
    serious = [one.code for one in findings if one.severity is not Severity.INFO]
    return tuple(f"holdfast explain {code}" for code in list(dict.fromkeys(serious))[:3])


DEPTH = 4
"""Declarative pipelines keep theirs four folders deep."""
MOST_FOLDERS = 5000

_LINK_OUT = "HF7013"
_LOGS = frozenset({"offsets", "commits"})
_PARTS = _LOGS | {"metadata", "sources", "state"}


def is_checkpoint(names: frozenset[str]) -> bool:
    """Return whether the names in a directory are those of a checkpoint, perhaps a damaged one."""
    return bool(names & _LOGS) or len(names & _PARTS) > 1


def checkpoints_below(reader: Reader) -> list[str]:
    """Name the folders below that are checkpoints; empty where the folder itself may be one.

    A folder that cannot be listed may be one, where others are: it is reported as unreadable.
    """
    names = reader.names("")
    if is_checkpoint(names):
        return []
    found: list[str] = []
    unlisted: list[str] = []
    level, asked = sorted(names), 0
    for _ in range(DEPTH):
        following: list[str] = []
        for folder in level:
            # Hidden folders hold records and backups; these are no job's own checkpoint.
            if folder.rpartition("/")[2].startswith(".") or asked >= MOST_FOLDERS:
                continue
            asked += 1
            try:
                inside = reader.names(folder)
            except StorageError as error:
                # A link that leads elsewhere is not followed: whatever is there, it is not below.
                unlisted += [] if error.code == _LINK_OUT else [folder]
                continue
            if is_checkpoint(inside):
                found.append(folder)
            else:
                following += [f"{folder}/{name}" for name in sorted(inside)]
        level = following
    return sorted([*found, *unlisted]) if found else []
