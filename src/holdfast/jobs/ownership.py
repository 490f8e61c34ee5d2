"""The rules on places across jobs: each checkpoint and each output is one job's alone.

All rules are pure and compare canonical spellings. They hold when the project file is read, and
once more for jobs that are ready to run, when what secrets hold is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from holdfast.errors import CheckpointError, ProjectError
from holdfast.jobs.endpoints import JobPlaces, lies_inside, overlaps, parts_between, ready_places
from holdfast.jobs.ready import ReadyJob
from holdfast.storage.location import shown_path
from holdfast.storage.reading import Reader

_CHECKPOINT = "checkpoint"
_OUTPUT = "output"
_PARTS_OF_A_CHECKPOINT = frozenset({"metadata", "offsets", "commits", "sources", "state"})


@dataclass(frozen=True)
class PathProblem:
    """What is wrong with a place of a job; `key` says where within the job it stands."""

    job: str
    key: tuple[str, ...]
    code: str
    message: str


def check_paths(jobs: Sequence[ReadyJob]) -> None:
    """Raise the first ProjectError that the places of these jobs give."""
    by_name = {job.name: job for job in jobs}
    for problem in path_problems([ready_places(job) for job in jobs]):
        at = _at(by_name[problem.job], problem.key)
        raise ProjectError(problem.code, problem.message, at=at)


def check_place(job: ReadyJob, reader: Reader) -> None:
    """Raise a CheckpointError where other things than a checkpoint are at its place.

    A project says where a checkpoint is only to adopt it: if none is there, the job would begin
    from zero for a path that is misspelt. A program has to say it always.
    """
    # A start that was killed at its first moment leaves Hadoop's hidden temporary files alone.
    names = frozenset(name for name in reader.names("") if not name.startswith("."))
    if not names and job.adopted and job.project is not None:
        message = "the job adopts a checkpoint, but there is none at this path"
        steps = (
            "correct `checkpoint:`: it names one that exists",
            "or, if the job is new, leave it out: its checkpoint is below `checkpoints:`",
        )
        raise CheckpointError("HF2001", message, at=reader.location, next_steps=steps)
    if names and names.isdisjoint(_PARTS_OF_A_CHECKPOINT):
        some = ", ".join(map(shown_path, sorted(names)[:3]))
        message = f"the checkpoint of {job.name} would be among other files: {some}"
        step = "give the job an empty location, or the one of its checkpoint"
        raise CheckpointError("HF2001", message, at=reader.location, next_steps=(step,))


def path_problems(jobs: Sequence[JobPlaces]) -> Iterator[PathProblem]:
    """Find every break of a rule; of two jobs the one that is declared later is reported."""
    for job in jobs:
        yield from _reads_what_it_writes(job)
    yield from _shared_tables(jobs)
    spots = [spot for number, job in enumerate(jobs) for spot in _spots(number, job)]
    for inner, outer in overlaps([spot.place for spot in spots]):
        yield from _meeting(spots[inner], spots[outer])


@dataclass(frozen=True)
class _Spot:
    """One place of one job."""

    number: int
    job: JobPlaces
    what: str
    place: str
    format: str = ""

    @property
    def named(self) -> str:
        return f"the {self.what} of jobs.{self.job.job}"


def _at(job: ReadyJob, key: tuple[str, ...]) -> str:
    return job.sink.at if key[0] == "sink" else job.at


def _spots(number: int, job: JobPlaces) -> Iterator[_Spot]:
    yield _Spot(number, job, _CHECKPOINT, job.checkpoint)
    if job.writes.folder is not None:
        yield _Spot(number, job, _OUTPUT, job.writes.folder, job.writes.format)
    for read in job.reads:
        if read.folder is not None:
            yield _Spot(number, job, f"source {read.name}", read.folder, read.format)


def _reads_what_it_writes(job: JobPlaces) -> Iterator[PathProblem]:
    for read in job.reads:
        if read.meets(job.writes):
            message = (
                f"jobs.{job.job} reads what it writes: {'.'.join(read.key)} overlaps with its sink"
            )
            yield PathProblem(job.job, ("sink",), "HF1112", message)


def _shared_tables(jobs: Sequence[JobPlaces]) -> Iterator[PathProblem]:
    owners: dict[str, str] = {}
    for job in jobs:
        if job.writes.table is None:
            continue
        owner = owners.setdefault(job.writes.table, job.job)
        if owner != job.job:
            message = f"jobs.{job.job} writes the same table as jobs.{owner}"
            yield PathProblem(job.job, ("sink", "table"), "HF1111", message)


def _meeting(inner: _Spot, outer: _Spot) -> Iterator[PathProblem]:
    """Judge two places of which one is the other, or lies inside of it."""
    if _CHECKPOINT in (inner.what, outer.what):
        yield from _meeting_of_checkpoint(inner, outer)
    elif inner.what == outer.what == _OUTPUT:
        first, second = sorted((inner, outer), key=lambda spot: spot.number)
        message = f"jobs.{second.job.job} writes {_how(second, first)} {first.named}"
        yield PathProblem(second.job.job, ("sink", "path"), "HF1111", message)


def _meeting_of_checkpoint(inner: _Spot, outer: _Spot) -> Iterator[PathProblem]:
    """Clearing, vacuuming or listing the one place would take the other along."""
    checkpoints = [spot for spot in (inner, outer) if spot.what == _CHECKPOINT]
    later = max(checkpoints, key=lambda spot: spot.number)
    other = outer if later is inner else inner
    if len(checkpoints) == 2 and inner.place == outer.place:
        message = f"jobs.{later.job.job} has the same checkpoint as jobs.{other.job.job}"
        yield PathProblem(later.job.job, ("checkpoint",), "HF1109", message)
    elif not _is_hidden(later, other):
        message = f"{later.named} is {_how(later, other)} {other.named}"
        yield PathProblem(later.job.job, ("checkpoint",), "HF1113", message)


def _how(spot: _Spot, other: _Spot) -> str:
    if spot.place == other.place:
        return "at the same path as"
    return "inside" if lies_inside(spot.place, other.place) else "around"


def _is_hidden(checkpoint: _Spot, other: _Spot) -> bool:
    """Whether Delta overlooks it: `<table>/_checkpoints/…` is an old habit, safe from VACUUM.

    Nobody can move an adopted checkpoint just to be allowed to run; a new one has no such excuse.
    """
    if not checkpoint.job.adopted or other.format != "delta":
        return False
    between = parts_between(checkpoint.place, other.place)
    return bool(between) and between[0].startswith(("_", ".")) and between[0] != "_delta_log"


class RecordedJob(Protocol):
    """What a record of a run says of the job that it was a run of."""

    @property
    def job(self) -> str: ...
    @property
    def project(self) -> str | None: ...


def check_owner(job: ReadyJob, recorded: RecordedJob | None) -> None:
    """Raise a ProjectError where the newest record of the job's checkpoint is another job's.

    A job that moves from a program into a project file, or back, keeps its name and so its
    checkpoint: only two projects that differ are two owners.
    """
    if recorded is None:
        return
    two_projects = None not in (job.project, recorded.project) and job.project != recorded.project
    if recorded.job == job.name and not two_projects:
        return
    owner, this = recorded.job, job.name
    if two_projects:
        owner, this = f"{owner} of project {recorded.project}", f"{this} of project {job.project}"
    message = f"{job.checkpoint.shown} belongs to the job {owner}; this is {this}"
    raise ProjectError("HF1118", message, at=job.at)
