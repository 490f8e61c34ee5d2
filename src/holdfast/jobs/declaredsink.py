"""What a job's declaration says of its sink and output mode, without filling in any secret."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.jobs.substitution import has_reference

if TYPE_CHECKING:
    from holdfast.jobs.project import Project


@dataclass(frozen=True)
class DeclaredSink:
    """The sink of one job as its project file declares it."""

    format: str
    identity: str | None
    """The path, the table or the function; None for a format that has none."""
    path: str | None
    """The output folder, None where there is none or a secret would have to be filled in."""
    output_mode: str
    at: str
    """Where in the project file it stands."""


def declared_sink(project: Project, job: str) -> DeclaredSink:
    """Give what the project file says of a job's sink."""
    declared = project.jobs[job]
    sink = declared.sink
    return DeclaredSink(
        format=sink.format,
        identity=sink.path or sink.table or sink.function,
        path=sink.path if sink.path and not has_reference(sink.path) else None,
        output_mode=declared.decided_output_mode,
        at=project.at("jobs", job, "sink"),
    )
