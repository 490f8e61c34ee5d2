"""What a job's declaration says of its sink and output mode, without any secret."""

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
    """The path, table, function or topic; None for a format that has none."""
    path: str | None
    """The output folder, None where there is none or its path cannot be filled in here."""
    output_mode: str
    at: str
    """Where in the project file it stands."""
    native: bool = False
    """Spark's own sink of this format, not Holdfast's."""


def declared_sink(project: Project, job: str) -> DeclaredSink:
    """Give what the project file says of a job's sink."""
    declared = project.shown_job(job)
    sink = declared.sink
    return DeclaredSink(
        format=sink.format,
        identity=sink.path or sink.table or sink.function or sink.options.get("topic"),
        path=sink.path if sink.path and not has_reference(sink.path) else None,
        output_mode=declared.decided_output_mode,
        at=project.at("jobs", job, "sink"),
        native=sink.native,
    )
