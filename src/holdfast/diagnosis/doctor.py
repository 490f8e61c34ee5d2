"""Examines checkpoints with their sinks and jobs, and tells what is wrong, the worst first."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from holdfast.answers import Answer
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import SHOWN_BATCHES, read_picture
from holdfast.checkpoint.verification import Progress, verify
from holdfast.diagnosis.checks import CHECKS, check_picture
from holdfast.diagnosis.checks.aroundcheckpoint import (
    ACROSS_CHECKS,
    SUBJECT_CHECKS,
    check_around,
)
from holdfast.diagnosis.checks.records import RECORDS_CHECKS, check_records
from holdfast.diagnosis.checks.rockssnapshots import snapshots_to_read
from holdfast.diagnosis.examination import Examination, Examined, SinkSeen, reported
from holdfast.diagnosis.inspecting import VERIFIED_HISTORY
from holdfast.diagnosis.keptoffsets import look_at_kept, with_kept_copy
from holdfast.diagnosis.recorded import Recall, Recorded, nothing
from holdfast.diagnosis.sinkplace import SinkPlace
from holdfast.diagnosis.statelook import look_at_state
from holdfast.diagnosis.stateseen import with_loadable_batch
from holdfast.diagnosis.subject import DeclaredJob, Subject
from holdfast.diagnosis.wrongfixes import with_wrong_fixes
from holdfast.errors import HoldfastError, NotFoundError, StorageError
from holdfast.findings import Finding, Place, Severity, rooted, worst, worst_first
from holdfast.ledgers.asking import SinkMemory
from holdfast.ledgers.outputsight import OutputSight
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
    open_parent: Callable[[], Reader] | None = None
    """Opens the folder around it, which is asked for names only, and seldom."""
    sink: SinkPlace | None = None
    job: DeclaredJob | None = None
    recall: Recall = nothing
    """Looks at the records beside it."""


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
        """Tell whether findings of this code are wanted."""
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
    verified: bool = False,
    progress: Progress | None = None,
) -> Answer[Examination]:
    """Run every check at every target; nothing is written.

    A single target that can't be read raises its error; among several it is reported, and the
    others go on.
    """
    read = [_read(one, verified, progress) for one in examinees]
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


def _read(examinee: Examinee | Unopened, verified: bool, progress: Progress | None) -> _Read:
    if isinstance(examinee, Unopened):
        return _Read(examinee, error=examinee.error)
    recorded = examinee.recall()
    try:
        picture = _picture(examinee, verified)
        if verified:
            picture = verify(examinee.reader, picture, progress)
    except HoldfastError as error:
        return _Read(examinee, error=error)
    return _Read(examinee, _subject(examinee, picture, recorded, verified, progress))


def _picture(examinee: Examinee, verified: bool) -> Picture:
    history = VERIFIED_HISTORY if verified else SHOWN_BATCHES
    try:
        return read_picture(examinee.reader, history=history)
    except NotFoundError:
        if examinee.job is None:
            raise
    # A declared job that never ran has no checkpoint yet, but a sink that may remember another.
    return read_picture(MemoryReader({}, location=examinee.reader.location), history=history)


def _subject(
    examinee: Examinee,
    picture: Picture,
    recorded: Recorded,
    verified: bool,
    progress: Progress | None,
) -> Subject:
    sink, output = _sink(examinee.sink, picture, verified)
    read = examinee.reader.read_many(snapshots_to_read(picture, everything=verified))
    snapshots = {path: data for path, data in read.items() if isinstance(data, bytes)}
    return Subject(
        picture,
        examinee.path,
        examinee.scheme,
        sink,
        examinee.job,
        _names_beside(examinee),
        snapshots,
        recorded,
        look_at_kept(recorded, picture, examinee.reader),
        look_at_state(examinee.reader, picture, snapshots, verified=verified, progress=progress),
        output,
    )


def _sink(
    place: SinkPlace | None, picture: Picture, verified: bool
) -> tuple[SinkMemory | None, OutputSight | None]:
    """Ask the sink, and look at what lies beside its folder where it is a file sink of ours."""
    if place is None:
        return None, None
    memory = place.ask(picture.offsets.keys())
    try:
        return memory, place.look(memory, all_files=verified)
    except StorageError as failure:
        return replace(memory, failure=memory.failure or failure), None


def _names_beside(examinee: Examinee) -> frozenset[str]:
    """Ask only for a name that can have a twin; what can't be listed has no neighbours to tell."""
    name = examinee.path.rstrip("/").rpartition("/")[2]
    if examinee.open_parent is None or name.replace("-", "").replace("_", "").isalnum():
        return frozenset()
    try:
        return examinee.open_parent().names("")
    except StorageError:
        return frozenset()


def _findings(one: _Read, others: list[Subject], choice: Choice) -> tuple[Finding, ...]:
    if one.subject is None:
        assert one.error is not None
        found = [_unreadable(one.error)]
    else:
        picture = one.subject.picture
        found = [
            *check_picture(picture),
            *check_records(picture, one.subject.recorded),
            *check_around(one.subject, others),
        ]
        found = [with_kept_copy(finding, one.subject.kept) for finding in found]
        found = [with_loadable_batch(finding, one.subject.state, picture) for finding in found]
    return worst_first(with_wrong_fixes(one) for one in found if choice.takes(one.code))


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
    if subject.sink is None:
        return None
    last = subject.sink.last_committed(subject.query_id)
    return SinkSeen(subject.sink.location, subject.sink.kind, last.value, last.basis)


def _location(one: _Read) -> str:
    if isinstance(one.examinee, Unopened):
        return one.examinee.error.at or one.examinee.target
    return one.examinee.reader.location


def _next_steps(findings: Collection[Finding]) -> tuple[str, ...]:
    serious = [one.code for one in findings if one.severity is not Severity.INFO]
    return tuple(f"holdfast explain {code}" for code in list(dict.fromkeys(serious))[:3])
