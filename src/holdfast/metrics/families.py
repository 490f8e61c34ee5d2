"""Every metric family that Holdfast exposes: the one table that both faces are drawn from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum

from holdfast.metrics.figures import Counted, JobFigures, LastRun

Samples = Iterable[tuple[tuple[str, ...], float]]
"""The values of the labels beyond project and job, each with the number."""
Read = Callable[[JobFigures, float], Samples]
"""Reads the samples of one job; the second argument is now, in seconds since 1970."""

JOB_LABELS = ("project", "job")
_UNITS = ("seconds", "bytes")
_LAG_UNITS = {
    "records": ("records", "rows"),
    "files": ("files",),
    "bytes": ("bytes",),
    "versions": ("table versions",),
}
"""The unit in the name of a metric, and the units that sources report which it stands for."""


class Face(str, Enum):
    """Where a family can be seen."""

    RUN = "run"
    STATUS = "status"


BOTH = frozenset(Face)


@dataclass(frozen=True)
class Family:
    """One metric family."""

    name: str
    """As Prometheus stores it; a counter ends in `_total`."""
    help: str
    read: Read
    labels: tuple[str, ...] = ()
    """The labels beyond project and job."""
    faces: frozenset[Face] = BOTH

    @property
    def is_counter(self) -> bool:
        """Whether it only grows while the process lives."""
        return self.name.endswith("_total")

    @property
    def unit(self) -> str:
        """The unit at the end of the name, empty for a plain number."""
        return next((unit for unit in _UNITS if self.name.endswith(f"_{unit}")), "")

    def samples(self, figures: JobFigures, now: float) -> Iterator[tuple[tuple[str, ...], float]]:
        """Yield the values of all labels with the number, none for what is unknown."""
        for values, number in self.read(figures, now):
            yield (figures.project, figures.job, *values), number


def families_of(face: Face) -> tuple[Family, ...]:
    """Return the families that one face shows."""
    return tuple(one for one in FAMILIES if face in one.faces)


def _one(read: Callable[[JobFigures], float | None]) -> Read:
    """Read a number without further labels; None gives no sample."""

    def samples(figures: JobFigures, _now: float) -> Samples:
        number = read(figures)
        return () if number is None else (((), float(number)),)

    return samples


def _counted(read: Callable[[Counted], int]) -> Read:
    """Read what the process counted."""
    return _one(lambda one: None if one.counted is None else read(one.counted))


def _of_run(read: Callable[[LastRun], float]) -> Read:
    """Read a number of the newest recorded run."""
    return _one(lambda one: None if one.last_run is None else read(one.last_run))


def _age(figures: JobFigures, now: float) -> Samples:
    return () if figures.committed is None else (((), max(now - figures.committed, 0.0)),)


def _state(figures: JobFigures, _now: float) -> Samples:
    return (((figures.state,), 1.0),)


def _phases(figures: JobFigures, _now: float) -> Samples:
    if figures.measures is None:
        return ()
    return [((phase,), spent) for phase, spent in sorted(figures.measures.phase_seconds.items())]


def _state_rows(figures: JobFigures, _now: float) -> Samples:
    state = () if figures.measures is None else figures.measures.state
    return [((str(one.operator), one.name), float(one.rows)) for one in state]


def _state_bytes(figures: JobFigures, _now: float) -> Samples:
    state = () if figures.measures is None else figures.measures.state
    return [((str(one.operator), one.name), float(one.memory_bytes)) for one in state]


def _lag(unit: str) -> Read:
    """Read the lag of the sources that report it in this unit."""
    reported = _LAG_UNITS[unit]

    def samples(figures: JobFigures, _now: float) -> Samples:
        lag = () if figures.measures is None else figures.measures.lag
        return [((one.source,), float(one.amount)) for one in lag if one.unit in reported]

    return samples


_OPERATOR = ("operator", "operator_name")
_RUN = frozenset({Face.RUN})
_STATUS = frozenset({Face.STATUS})

FAMILIES: tuple[Family, ...] = (
    Family(
        "holdfast_job_up",
        "1 while a driver runs the job, 0 otherwise; absent if unknown",
        _one(lambda one: one.up),
    ),
    Family(
        "holdfast_job_ended",
        "1 once the newest run of the job is over, however it ended",
        _one(lambda one: one.ended),
    ),
    Family(
        "holdfast_job_failed",
        "1 if the newest run or start failed, was refused or killed, or lost its lease",
        _one(lambda one: one.failed),
    ),
    Family(
        "holdfast_job_state",
        "1 for the state that the job is in; other states are absent",
        _state,
        ("state",),
    ),
    Family(
        "holdfast_batch_id",
        "Newest committed batch",
        _one(lambda one: one.batch_id),
    ),
    Family(
        "holdfast_pending_batch_id",
        "Batch that is planned and not committed; absent if there is none",
        _one(lambda one: one.pending),
    ),
    Family(
        "holdfast_last_commit_timestamp_seconds",
        "When the newest recorded batch was committed, in seconds since 1970",
        _one(lambda one: one.committed),
    ),
    Family(
        "holdfast_last_commit_age_seconds",
        "Time since the newest recorded batch was committed, when the metrics were made",
        _age,
    ),
    Family(
        "holdfast_batch_rows",
        "Input rows of the newest recorded batch",
        _one(lambda one: one.batch_rows),
    ),
    Family(
        "holdfast_batch_duration_seconds",
        "Duration of the newest recorded batch per phase; triggerExecution is the whole batch",
        _phases,
        ("phase",),
    ),
    Family(
        "holdfast_source_lag_records",
        "Records (for some sources: rows) that the source had and the newest batch did not read",
        _lag("records"),
        ("source",),
    ),
    Family(
        "holdfast_source_lag_files",
        "Files that the source had and the newest batch did not read",
        _lag("files"),
        ("source",),
    ),
    Family(
        "holdfast_source_lag_versions",
        "Table versions that the source had and the newest batch did not read",
        _lag("versions"),
        ("source",),
    ),
    Family(
        "holdfast_source_lag_bytes",
        "Bytes that the source had and the newest batch did not read",
        _lag("bytes"),
        ("source",),
    ),
    Family(
        "holdfast_state_rows",
        "Rows in the state of a stateful operator after the newest batch",
        _state_rows,
        _OPERATOR,
    ),
    Family(
        "holdfast_state_memory_bytes",
        "Memory that the state store uses for a stateful operator",
        _state_bytes,
        _OPERATOR,
    ),
    Family(
        "holdfast_lease_held",
        "1 while a driver holds the lease on the checkpoint, 0 otherwise; absent if unknown",
        _one(lambda one: one.lease_held),
    ),
    Family(
        "holdfast_lease_generation",
        "Newest generation of the lease; grows with every start",
        _one(lambda one: one.generation),
    ),
    Family(
        "holdfast_batches_total",
        "Batches that this process committed",
        _counted(lambda counted: counted.batches),
        faces=_RUN,
    ),
    Family(
        "holdfast_rows_total",
        "Input rows of the batches that this process committed",
        _counted(lambda counted: counted.rows),
        faces=_RUN,
    ),
    Family(
        "holdfast_skipped_batches_total",
        "Batches that this process skipped because they were already in the sink",
        _counted(lambda counted: counted.skipped_batches),
        faces=_RUN,
    ),
    Family(
        "holdfast_restarts_total",
        "Restarts of the job by --keep-running in this process",
        _counted(lambda counted: counted.restarts),
        faces=_RUN,
    ),
    Family(
        "holdfast_last_run_batches",
        "Batches of the newest recorded run",
        _of_run(lambda run: run.batches),
        faces=_STATUS,
    ),
    Family(
        "holdfast_last_run_rows",
        "Input rows of the newest recorded run",
        _of_run(lambda run: run.rows),
        faces=_STATUS,
    ),
    Family(
        "holdfast_last_run_skipped_batches",
        "Batches of the newest recorded run that were already in the sink",
        _of_run(lambda run: run.skipped_batches),
        faces=_STATUS,
    ),
    Family(
        "holdfast_last_run_duration_seconds",
        "Duration of the newest recorded run, up to its last record",
        _of_run(lambda run: run.seconds),
        faces=_STATUS,
    ),
    Family(
        "holdfast_status_timestamp_seconds",
        "When `holdfast status` looked at the job, in seconds since 1970",
        _one(lambda one: one.looked_at),
        faces=_STATUS,
    ),
)
