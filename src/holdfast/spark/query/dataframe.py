"""Builds a job's streaming DataFrame: loads its sources, applies its transform or SQL."""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from holdfast.errors import SourceError
from holdfast.jobs.discovery import module_file
from holdfast.jobs.ready import FunctionReference, ReadyJob, ReadySource
from holdfast.redaction import redact
from holdfast.spark.failures import SparkMessage, spark_message
from holdfast.spark.query.usercode import code_error, digests_of, load_function, project_imports

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


_CODES = {
    "PATH_NOT_FOUND": "HF5101",
    "DATA_SOURCE_NOT_FOUND": "HF5103",
    "UNABLE_TO_INFER_SCHEMA": "HF5104",
    "DELTA_MISSING_DELTA_TABLE": "HF5105",
    "DELTA_PATH_DOES_NOT_EXIST": "HF5105",
    "DELTA_SCHEMA_NOT_SET": "HF5105",
    "DELTA_TABLE_NOT_FOUND": "HF5105",
}
"""What an error class of Spark means for a source."""
_PHRASES = {
    "Schema must be specified when creating a streaming source": "HF5104",
    "Failed to find data source": "HF5103",
    "does not support streamed reading": "HF5103",
}
"""The same for errors that Spark gives no class."""
_REFUSED = "HF5106"
_DENIED = re.compile(
    r"AccessDenied|AccessControlException|\(?Permission denied|Status Code: 403|\b403 Forbidden\b"
)
"""How file systems, HDFS and object stores say that a user has no access."""


def load_sources(session: SparkSession, job: ReadyJob) -> dict[str, DataFrame]:
    """Return a streaming DataFrame for each source of a job, by its name."""
    return {source.name: _load(session, source) for source in job.sources}


def _load(session: SparkSession, source: ReadySource) -> DataFrame:
    reader = session.readStream.format(source.format).options(**source.options)
    if source.schema is not None:
        try:
            reader = reader.schema(source.schema)
        except PySparkException as error:
            raise _described(error, "HF5102", source) from error
    try:
        return reader.load(source.path) if source.path is not None else reader.load()
    except (PySparkException, Py4JError) as error:
        raise _described(error, _code(spark_message(error), str(error)), source) from error


def _code(words: SparkMessage, text: str) -> str:
    if _DENIED.search(text):
        return "HF5107"
    phrases = (code for phrase, code in _PHRASES.items() if phrase in words.sentence)
    return _CODES.get((words.condition or "").partition(".")[0]) or next(phrases, _REFUSED)


def _described(error: Exception, code: str, source: ReadySource) -> SourceError:
    words = spark_message(error)
    path = source.path or source.options.get("path")
    causes = {
        "HF5101": f"there is nothing at {path}",
        "HF5102": f"its schema cannot be parsed: {words.sentence}",
        "HF5103": f"Spark cannot stream the format {source.format}",
        "HF5104": f"a {source.format} source requires a schema, and none is declared under schema:",
        "HF5105": f"there is no Delta table at {path}",
        "HF5107": f"it cannot be read: {words.sentence.rpartition('Exception: ')[2]}",
    }
    cause = causes.get(code, f"Spark rejects it: {words.shown}")
    # The only source of a job is named `source` unless the project file names it.
    named = "source" if source.name == "source" else f"source {source.name}"
    message = redact(f"{named}: {cause}")
    return SourceError(code, message, at=source.at, trace=redact(str(error)))


Frames = Mapping[str, DataFrame]

_SINGLE = "source"


def apply_transform(session: SparkSession, job: ReadyJob, frames: Frames) -> DataFrame:
    """Return what the job's transform makes of its sources; a single one may stay as it is."""
    if job.sql is not None:
        return _streaming(_apply_sql(session, job, job.sql, frames), job.at)
    transform = job.transform
    if transform is None:
        return _streaming(next(iter(frames.values())), job.at)
    if isinstance(transform, FunctionReference):
        return _streaming(_call(load_function(transform), job, frames), transform.at)
    return _streaming(_call(transform, job, frames), job.at)


def code_digests(job: ReadyJob) -> dict[str, str]:
    """Return the SHA-256 of the transform's file, of what it imports from the job's folder, and of
    the job's SQL."""
    folder = job.folder.resolve()
    file = _file_of(job)
    digests = {} if file is None or not file.is_file() else digests_of(folder, file.resolve())
    if job.sql is not None:
        digests["sql"] = hashlib.sha256(job.sql.encode()).hexdigest()
    return digests


def job_functions(job: ReadyJob) -> list[tuple[str, Callable[..., Any]]]:
    """Return the functions of a job that are no part of its plan, each with its kind."""
    declared = (("transform", job.transform), ("sink", job.sink.function))
    return [
        (kind, load_function(one) if isinstance(one, FunctionReference) else one)
        for kind, one in declared
        if one is not None
    ]


def _file_of(job: ReadyJob) -> Path | None:
    transform = job.transform
    if isinstance(transform, FunctionReference):
        return module_file(transform.folder, transform.module)
    if transform is None:
        return None
    code = getattr(inspect.unwrap(transform), "__code__", None)
    return None if code is None else Path(code.co_filename)


def _call(function: Callable[..., Any], job: ReadyJob, frames: Frames) -> object:
    """Pass a single source as the only argument, several by their names."""
    single = len(frames) == 1
    arguments = (*frames.values(),) if single else ()
    named = {} if single else dict(frames)
    _check_parameters(function, job, arguments, named)
    try:
        with project_imports(job.folder):
            return function(*arguments, **named)
    except Exception as error:
        raise code_error("HF5115", "the transform failed", error, job.folder) from error


def _check_parameters(
    function: Callable[..., Any],
    job: ReadyJob,
    arguments: tuple[DataFrame, ...],
    named: Mapping[str, DataFrame],
) -> None:
    try:
        signature = inspect.signature(function)
    except ValueError:
        return
    try:
        signature.bind(*arguments, **named)
    except TypeError as error:
        wanted = ", ".join(named) if named else "one DataFrame"
        has = ", ".join(signature.parameters) or "no parameters"
        message = f"the transform must take {wanted}; it takes {has}"
        raise SourceError("HF5114", message, at=_declared(job)) from error


def _apply_sql(session: SparkSession, job: ReadyJob, sql: str, frames: Frames) -> DataFrame:
    with _views(session, frames):
        try:
            return session.sql(sql)
        except (PySparkException, Py4JError) as error:
            message = f"Spark rejects the SQL: {spark_message(error).shown}"
            raise SourceError("HF5117", message, at=job.at, trace=redact(str(error))) from error


@contextmanager
def _views(session: SparkSession, frames: Frames) -> Iterator[None]:
    """Name each source as a view until the query is analysed, then put back the caller's views."""
    views = dict(frames)
    if len(frames) == 1:
        views.setdefault(_SINGLE, *frames.values())
    shadowed = {name: session.table(name) for name in views if _is_temporary_view(session, name)}
    try:
        for name, frame in views.items():
            frame.createOrReplaceTempView(name)
        yield
    finally:
        for name in views:
            session.catalog.dropTempView(name)
        for name, frame in shadowed.items():
            frame.createOrReplaceTempView(name)


def _is_temporary_view(session: SparkSession, name: str) -> bool:
    catalog = session.catalog
    return catalog.tableExists(name) and catalog.getTable(name).isTemporary


def _streaming(result: object, at: str) -> DataFrame:
    if isinstance(result, DataFrame) and result.isStreaming:
        return result
    message = f"the transform returns {_what(result)}, not a streaming DataFrame"
    raise SourceError("HF5116", message, at=at)


def _what(result: object) -> str:
    if result is None:
        return "None (is a return missing?)"
    if isinstance(result, DataFrame):
        return "a DataFrame that is not derived from its sources"
    if isinstance(result, DataStreamWriter):
        return "a writer: remove writeStream, the sink is declared with the job"
    if isinstance(result, StreamingQuery):
        return "a query that it started itself: remove writeStream and start"
    return f"{type(result).__name__}"


def _declared(job: ReadyJob) -> str:
    return job.transform.at if isinstance(job.transform, FunctionReference) else job.at
