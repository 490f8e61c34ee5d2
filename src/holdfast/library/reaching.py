"""Opens what a plan reaches besides the checkpoint: the job's sink, and folders of its sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError, PlanError
from holdfast.jobs.target import resolve_place
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageOptions
from holdfast.targets.opening import Opening, recall_of, working_folder

if TYPE_CHECKING:
    from holdfast.diagnosis.inspection.sources import SourcesSeen
    from holdfast.jobs.target import Target
    from holdfast.spark.sinks.sink import HeldSink


def names_in(target: Target, storage_options: StorageOptions, folder: str) -> frozenset[str] | None:
    """Return the names in a folder that a source reads; None where it cannot be listed."""
    try:
        location, settings = resolve_place(
            folder, target, storage_options=storage_options, relative_to=working_folder()
        )
        return open_reader(location, settings).names("")
    except HoldfastError:
        return None


def seen_sources(target: Target, storage_options: StorageOptions) -> SourcesSeen:
    """Return what the sources of a job have now, of what its newest offsets are about."""
    from holdfast.checkpoint.reading import SHOWN_BATCHES, read_picture
    from holdfast.targets.jobs import source_places

    opening = Opening(None)
    reader = opening.reader(target.location, target.settings)
    picture = read_picture(reader, history=SHOWN_BATCHES)
    run = recall_of(target, opening)().run_of(picture)
    return source_places(target, storage_options, opening).look(picture, run)


@contextmanager
def opened_sink(
    target: Target,
    planned: Mapping[str, str] | None = None,
    *,
    starting: Callable[[str], None] | None = None,
) -> Iterator[HeldSink]:
    """Open the sink of the job: files as they are, others in a Spark that is started for it.

    `starting` is called with a line before Spark starts. Raise PlanError (HF4647, HF4648) where it
    is not the output that was planned for.
    """
    if target.project is None or target.job is None:
        message = f"{target.location.shown} is not declared as a job here"
        raise PlanError("HF4614", message, at=target.location.shown)
    from holdfast.jobs.readying import ready_job
    from holdfast.remedy.outputs import (
        FILES,
        TABLE,
        refuse_other_output,
        refuse_other_table,
        table_seen,
    )

    sink = ready_job(target.project, target.job).sink
    refuse_other_output(planned or {}, sink, target.location.shown)
    if sink.format in FILES and not sink.native and sink.location is not None:
        from holdfast.ledgers.files.held import HeldFiles
        from holdfast.ledgers.files.output import FileOutput

        yield HeldFiles(FileOutput(sink.location, sink.settings), sink.format)
        return
    from holdfast.running.options import jobs_of_project, session_of_project
    from holdfast.spark.session.installation import installed_spark

    installed_spark()
    from holdfast.spark.planning import opened_sink as opened_by_spark

    (job,) = jobs_of_project(target.project, [target.job])
    session = session_of_project(target.project, (job,), offline=False, ui=False, verbose=False)
    with opened_by_spark(job, session, starting) as opened:
        if planned and TABLE in planned:
            refuse_other_table(planned, table_seen(opened.sight(None)), target.location.shown)
        yield opened
