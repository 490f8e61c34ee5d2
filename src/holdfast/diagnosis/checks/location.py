"""Where checkpoint and output lie: a fixed and lasting path, reachable from every executor, and
nobody else's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.checkpointpath import emptied_folder

_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
_SPARKS_OWN = re.compile(rf"temporary-{_UUID}")
_TEMPORARY = re.compile(
    r"/(?:var/)?tmp/|/local_disk0/tmp/|/private/var/folders/|/AppData/Local/Temp/"
)
_CHANGING: tuple[tuple[str, re.Pattern[str]], ...] = (
    (
        "an application id",
        re.compile(r"application_[0-9]{10,}_[0-9]+|(?:app|local)-[0-9]{10,}\S*"),
    ),
    ("a random id", re.compile(rf"(?<![0-9a-fA-F]){_UUID}(?![0-9a-fA-F])")),
    ("a time", re.compile(r"(?<![0-9])1[0-9]{9}(?:[0-9]{3})?(?![0-9])")),
    (
        "a date",
        re.compile(
            r"(?<![0-9])20[0-9]{2}([-_.]?)(?:0[1-9]|1[0-2])\1(?:0[1-9]|[12][0-9]|3[01])(?![0-9])"
        ),
    ),
)
_UNESCAPED = "_-!.~'()*,;:$&+=@"
"""What a Java URI leaves as it is in a path, beside letters and digits."""

_OF_A_JOB = (
    "declare it under a new name, with a lasting checkpoint and an empty lasting sink; it reads "
    "its sources from the beginning",
    "do not move the checkpoint by hand: a job whose checkpoint is at another path does not start "
    "(HF1114)",
)


def check_is_there(subject: Subject) -> Iterator[Finding]:
    """Report a path at which nothing is; a declared job that never ran has no checkpoint yet."""
    if not subject.is_there and subject.job is None:
        message = "there is nothing at this path: a query started on it begins at batch 0"
        yield Finding("HF2351", Severity.WARNING, message, Place(""))


def check_fixed_path(subject: Subject) -> Iterator[Finding]:
    """Report what in the path changes from one submission to the next."""
    path = _SPARKS_OWN.sub("", subject.path)
    for what, pattern in _CHANGING:
        found = pattern.search(path)
        if found is not None:
            message = f"the path contains {what}: {found[0]}"
            evidence = {"part": found[0], "looks_like": what}
            yield Finding("HF2301", Severity.WARNING, message, Place(""), evidence)
            return


def check_lasting_place(subject: Subject) -> Iterator[Finding]:
    """Report a place that Spark made up, or that this machine empties."""
    job = subject.job
    # Where a project declares the job, a move by hand is refused at its next start.
    steps = _OF_A_JOB if job is not None else ()
    if _SPARKS_OWN.search(subject.path):
        message = "Spark generated this path, because the query set no checkpointLocation"
        yield Finding("HF2302", Severity.WARNING, message, Place(""), next_steps=steps)
    elif subject.scheme == "file" and job is not None and job.folder is not None:
        yield from emptied_place(subject.path, job.folder)
        yield from emptied_output(job.local_output, job.folder)
    elif subject.scheme == "file" and _TEMPORARY.search(subject.path):
        message = "the checkpoint is in a directory of temporary files"
        yield Finding("HF2302", Severity.INFO, message, Place(""), next_steps=steps)


def emptied_place(path: str, project: str) -> Iterator[Finding]:
    """Report a job whose local checkpoint is in a temporary directory, and its project is not."""
    folder = emptied_folder(path, project)
    if folder is not None:
        message = f"the checkpoint is in the temporary directory {folder}, the project is not"
        evidence = {"directory": folder}
        yield Finding(
            "HF2302", Severity.WARNING, message, Place(""), evidence, next_steps=_OF_A_JOB
        )


def emptied_output(output: str | None, project: str) -> Iterator[Finding]:
    """Report a job whose local output is in a temporary directory, and its project is not."""
    folder = None if output is None else emptied_folder(output, project)
    if folder is not None:
        message = f"the output is in the temporary directory {folder}, the project is not"
        evidence = {"directory": folder, "output": output}
        why = "such directories are emptied at a reboot or by a clean-up: delivered rows are lost"
        yield Finding("HF2302", Severity.WARNING, message, Place(""), evidence, why, _OF_A_JOB[:1])


def check_escaped_twin(subject: Subject) -> Iterator[Finding]:
    """Report a folder at the path under which Spark 2 kept this one."""
    if subject.twin is not None:
        message = f"{subject.twin} is the path that Spark 2 used for this checkpoint"
        yield Finding("HF2305", Severity.FATAL, message, Place(""), {"twin": subject.twin})


def escaped_path(path: str) -> str:
    """Return the path that Spark 2 made of this one: every part of it escaped three times."""
    scheme, divider, rest = path.rpartition("://")
    parts = rest.rstrip("/").split("/")
    return scheme + divider + "/".join(_escaped(_escaped(_escaped(part))) for part in parts)


def _escaped(name: str) -> str:
    """Escape a name as a Java URI does: letters of other alphabets stay."""
    return "".join(
        one if not one.isascii() or one.isalnum() or one in _UNESCAPED else f"%{ord(one):02X}"
        for one in name
    )


@dataclass(frozen=True)
class WrittenPlaces:
    """Where the tasks of a job write, of these only what is a path of this machine."""

    output: str | None = None
    """The folder of files or of a Delta table."""
    checkpoint: str | None = None


NO_PLACES = WrittenPlaces()


def check_local_places(subject: Subject) -> Iterator[Finding]:
    """Report local places of a job that its project starts on a cluster."""
    job = subject.job
    if job is None or job.master is None:
        return
    checkpoint = subject.path if subject.scheme == "file" else None
    has_state = bool(subject.picture.layout.state.operators)
    yield from on_own_disks(job.master, WrittenPlaces(job.local_output, checkpoint), has_state)


def on_own_disks(master: str, places: WrittenPlaces, has_state: bool) -> Iterator[Finding]:
    """Yield a finding where executors on other machines write to paths of their own disks.

    They write the output always and the checkpoint only where the query has state: without it the
    driver alone does, and finds it again as long as it starts on the same machine.
    """
    if not is_cluster(master) or places == NO_PLACES:
        return
    named = {"the output": places.output, "the checkpoint": places.checkpoint}
    local = [f"{what} {path}" for what, path in named.items() if path is not None]
    verb = "is a local path" if len(local) == 1 else "are local paths"
    message = f"{' and '.join(local)} {verb}, and Spark runs on {master}"
    severe = places.output is not None or has_state
    severity = Severity.ERROR if severe else Severity.WARNING
    evidence = {"output": places.output, "checkpoint": places.checkpoint}
    yield Finding("HF3028", severity, message, Place(""), evidence)


def is_cluster(master: str) -> bool:
    """Return whether executors run on other machines; a master that Spark does not know is none."""
    return "://" in master or master.split("-", maxsplit=1)[0] == "yarn"


_OWN_LOG = frozenset({"parquet", "csv", "json", "orc", "text"})
"""Formats whose output folder has one log for all who write there."""


def check_shared_identity(subject: Subject, others: Sequence[Subject]) -> Iterator[Finding]:
    """Report other checkpoints with the same query id."""
    same = (one for one in others if one.query_id and one.query_id == subject.query_id)
    twins = [one.picture.location for one in same]
    if twins:
        message = f"{twins[0]} has the same query id, {subject.query_id}"
        evidence = {"query_id": subject.query_id, "others": twins[:20]}
        yield Finding("HF2421", Severity.ERROR, message, Place("metadata"), evidence)


def check_shared_output(subject: Subject, others: Sequence[Subject]) -> Iterator[Finding]:
    """Report other jobs that write files into the same folder."""
    job = subject.job
    if job is None or job.sink_place is None or job.job.sink.format not in _OWN_LOG:
        return
    names = [one.job.name for one in others if one.job and one.job.sink_place == job.sink_place]
    if names:
        message = f"{job.name} and {names[0]} both write to {job.sink_place}"
        evidence = {"output": job.sink_place, "others": names}
        yield Finding("HF2422", Severity.ERROR, message, Place(""), evidence)
