"""Create a project, and show how its jobs stand."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.answers import Answer
from holdfast.jobs.discovery import ProjectChoice
from holdfast.library.answering import repeats_project
from holdfast.storage.options import StorageOptions
from holdfast.targets.jobs import job_places

if TYPE_CHECKING:
    from holdfast.diagnosis.status.result import Status
    from holdfast.jobs.scaffold import NewProject


def init_project(folder: str | Path = ".", *, schema_only: bool = False) -> Answer[NewProject]:
    """Create a new project with a working example: all of its files or none; existing files stay.

    With `schema_only`, only the JSON Schema that editors complete `holdfast.yaml` with is written.

    >>> import holdfast
    >>> holdfast.init_project("shop").result
    <NewProject folder='shop' project='shop' files=6>
    """
    from holdfast.jobs.scaffold import write_project, write_schema

    return write_schema(Path(folder)) if schema_only else write_project(Path(folder))


@repeats_project
def status(
    *jobs: str,
    project: str | Path | None = None,
    profile: str | None = None,
    metrics: str | Path | None = None,
    storage_options: StorageOptions = (),
    timeout: float | None = None,
) -> Answer[Status]:
    """Return the state of the jobs of a project: batches, lease, last runs.

    Without any job, all jobs of the project. `metrics` is a file that is written as OpenMetrics
    text, the only thing written. Raises HoldfastError.

    >>> import holdfast
    >>> made = holdfast.init_project("market")
    >>> [(job.job, job.state.value) for job in holdfast.status(project="market").result.jobs]
    [('orders', 'new'), ('customer-totals', 'new')]
    """
    from holdfast.diagnosis.status.status import status_of

    chosen = ProjectChoice.of(project, profile)
    name, places = job_places(jobs, chosen, storage_options, timeout)
    if metrics is None:
        return status_of(name, places)
    from holdfast.metrics.exposition import status_with_metrics

    return status_with_metrics(name, places, Path(metrics))
