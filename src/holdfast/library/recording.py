"""Record a query that Holdfast does not run, so that its next version can be checked."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, cast

from holdfast.answers import Answer, naming
from holdfast.errors import HoldfastError, UsageError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.library.answering import known_output_mode, names_target, repeats_project
from holdfast.redaction import redact
from holdfast.storage.options import StorageOptions, settings_given
from holdfast.targets.opening import working_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery

    from holdfast.findings import Finding
    from holdfast.jobs.built import Job
    from holdfast.restart.recorded import RecordedQuery, RecordReport


class NotRecordedWarning(UserWarning):
    """A query was started without a record of it: its next version cannot be compared."""


def record(
    frame: DataFrame | StreamingQuery,
    *,
    checkpoint: str | Path | None = None,
    output_mode: str = "append",
    sink: str | None = None,
    strict: bool = False,
    storage_options: StorageOptions = (),
) -> Answer[RecordReport] | None:
    """Record the query of a program that Holdfast does not run.

    Give it the query right after `start()`: it knows its checkpoint, output mode and sink, and the
    record is tied to its id. Or give it the DataFrame right before `start()`: `checkpoint` and
    `output_mode` are those that the query is started with, `sink` is where its rows go, in your
    words. The record is stored next to the checkpoint, without a lease: no other
    driver is disturbed. `holdfast.check(frame, checkpoint=…)` compares the next version with it
    once a batch was committed.

    A stream must not fail because it could not be recorded: then a NotRecordedWarning is issued and
    None is returned. With `strict`, HoldfastError is raised instead.
    """
    with naming(None if checkpoint is None else str(checkpoint), None):
        try:
            return _recorded(frame, checkpoint, output_mode, sink, storage_options)
        except HoldfastError as error:
            if strict:
                raise
            reason = str(error)
        except Exception as error:
            if strict:
                raise
            reason = f"{type(error).__name__}: {redact(str(error))}"
    place = "" if checkpoint is None else f" on {redact(str(checkpoint))}"
    message = f"the query{place} was not recorded: {reason}"
    warnings.warn(message, NotRecordedWarning, stacklevel=3)
    return None


def _recorded(
    frame: DataFrame | StreamingQuery,
    checkpoint: str | Path | None,
    output_mode: str,
    sink: str | None,
    storage_options: StorageOptions,
) -> Answer[RecordReport]:
    from holdfast.spark.session.installation import installed_spark
    from holdfast.storage.location import parse_location

    installed_spark()
    from holdfast.spark.planning import record_frame, record_started
    from holdfast.spark.startedquery import is_query

    place = None
    if checkpoint is not None:
        place = parse_location(str(checkpoint), relative_to=working_folder())
    if is_query(frame):
        return _answer([record_started(frame, place, storage_options)])
    if place is None:
        message = "a DataFrame is recorded for the checkpoint that it is started on"
        raise UsageError("HF1001", message, next_steps=("give checkpoint=…",))
    settings = settings_given(place.scheme, storage_options)
    mode = known_output_mode(output_mode)
    recorded = record_frame(cast("DataFrame", frame), place, settings, output_mode=mode, sink=sink)
    return _answer([recorded])


@repeats_project
def record_jobs(
    *jobs: str | Job,
    project: str | Path | None = None,
    profile: str | None = None,
    offline: bool = False,
    starting: Callable[[str], None] | None = None,
) -> Answer[RecordReport]:
    """Record jobs that are declared in the project file, or in Python, and run elsewhere.

    Record the version that runs: it counts as the query that made the newest batch of the
    checkpoint. A Spark session is used or started to plan the queries; none is started. `starting`
    is called with a line before Spark starts. Raises HoldfastError.
    """
    from holdfast.running.options import requested_jobs
    from holdfast.spark.session.installation import installed_spark

    if not jobs:
        message = "name the jobs that run elsewhere"
        raise UsageError("HF1001", message, next_steps=("holdfast record JOB",))
    ready, session = requested_jobs(
        jobs,
        ProjectChoice.of(project, profile),
        working_folder=working_folder(),
        offline=offline,
        ui=False,
        verbose=False,
    )
    installed_spark()
    from holdfast.spark.planning import record_declared

    only = ready[0].name if len(ready) == 1 else None
    with naming(only, only):
        return _answer(record_declared(ready, session, starting))


@names_target
def record_event_log(
    target: str | Path,
    event_log: str | Path,
    *,
    project: str | Path | None = None,
    profile: str | None = None,
    storage_options: StorageOptions = (),
) -> Answer[RecordReport]:
    """Record the query of a checkpoint from Spark's event log of the program, in any language.

    `event_log` is a file or an `eventlog_v2_…` directory on this machine. Sources, operators,
    output mode, watermark, settings and the Spark version are read; no Spark is needed. What an
    event log does not show is named in the result, and `check` never calls it safe. Raises
    HoldfastError.
    """
    from holdfast.checkpoint.picture import passed_over
    from holdfast.checkpoint.reading import read_picture
    from holdfast.restart.eventlogs import described_query, logged_query, read_event_log
    from holdfast.restart.recorded import record_query
    from holdfast.targets.opening import open_target

    path = working_folder() / event_log
    chosen = ProjectChoice.of(project, profile)
    found, reader = open_target(target, chosen, storage_options, None)
    picture = read_picture(reader)
    log = read_event_log(path)
    query = logged_query(log, None if picture.query is None else picture.query.id, path)
    passed = passed_over(picture.newest_commit_id, picture.pending)
    described = described_query(log, query, passed)
    return _answer([record_query(described, found.location, found.settings, picture)])


def _answer(
    recorded: Sequence[tuple[RecordedQuery, tuple[Finding, ...]]],
) -> Answer[RecordReport]:
    from holdfast.restart.recorded import RecordReport

    queries = tuple(one for one, _ in recorded)
    findings = tuple(finding for _, found in recorded for finding in found)
    location = queries[0].location if len(queries) == 1 else ""
    return Answer("record", location, RecordReport(queries), findings)
