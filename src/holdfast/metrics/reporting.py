"""What a run and `status` do for metrics, beside what they do without them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.answers import Answer
from holdfast.errors import UsageError
from holdfast.running.events import Event, RunStep, Watcher
from holdfast.storage.paths import shown_path

if TYPE_CHECKING:
    from holdfast.diagnosis.status.result import Status
    from holdfast.diagnosis.status.status import JobPlace
    from holdfast.jobs.ready import ReadyJob
    from holdfast.running.stopping import Stopping


@contextmanager
def reporting_metrics(
    jobs: Sequence[ReadyJob],
    host: str | None,
    port: int | None,
    stopping: Stopping,
    watch: Watcher,
) -> Iterator[tuple[Watcher, str | None]]:
    """Serve metrics of a run where a port is given; yield who hears what happens, and the URL."""
    if port is None:
        if host is not None:
            raise UsageError("HF1001", "a metrics host requires a metrics port")
        yield watch, None
        return
    from holdfast.metrics.figures import LiveFigures
    from holdfast.metrics.serving import LOOPBACK, metrics_served

    live = LiveFigures(jobs, lambda: stopping.working)

    def watched(event: Event) -> None:
        live.take(event)
        watch(event)

    with metrics_served(host or LOOPBACK, port, live.now) as url:
        watch(RunStep(f"metrics: {url}", always=True))
        yield watched, url


def status_with_metrics(project: str, places: Sequence[JobPlace], path: Path) -> Answer[Status]:
    """Look at the jobs and write the metrics file; a bad place is refused before the look."""
    from holdfast.diagnosis.status.status import status_of
    from holdfast.metrics.exposition import (
        metrics_text,
        refuse_bad_file,
        require_metrics_extra,
        write_metrics,
    )
    from holdfast.metrics.families import Face
    from holdfast.metrics.figures import figures_of_status

    require_metrics_extra()
    refuse_bad_file(path, [one.folder for one in places if one.folder is not None])
    answer = status_of(project, places)
    text = metrics_text(Face.STATUS, figures_of_status(answer.result, time.time()))
    write_metrics(path, text)
    return replace(answer, result=replace(answer.result, metrics_file=shown_path(str(path))))
