"""Places on one machine's disk that a job on a cluster would write to from many machines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.diagnosis.inspection.subject import Subject
from holdfast.findings import Finding, Place, Severity


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
    if is_one_machine(master) or places == NO_PLACES:
        return
    named = {"the output": places.output, "the checkpoint": places.checkpoint}
    local = [f"{what} {path}" for what, path in named.items() if path is not None]
    verb = "is a local path" if len(local) == 1 else "are local paths"
    message = f"{' and '.join(local)} {verb}, and Spark runs on {master}"
    severe = places.output is not None or has_state
    severity = Severity.ERROR if severe else Severity.WARNING
    evidence = {"output": places.output, "checkpoint": places.checkpoint}
    yield Finding("HF3028", severity, message, Place(""), evidence)


def is_one_machine(master: str) -> bool:
    """Whether all executors run on the machine of the driver: local[…], local-cluster[…]."""
    return master.startswith("local")
