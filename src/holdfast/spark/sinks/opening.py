"""Opens the sink that a job declares, or says why it can't be written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from holdfast.errors import SinkError
from holdfast.jobs.ready import FunctionReference, ReadyJob, ReadySink
from holdfast.ledgers.custom import ledger_options_of
from holdfast.ledgers.database.connection import postgres_address
from holdfast.ledgers.files.output import FileOutput
from holdfast.spark.query.usercode import load_function
from holdfast.spark.sinks.custom import CustomSink
from holdfast.spark.sinks.database.dialects.jdbc.dialect import RESERVED_OPTIONS as OF_JDBC_WRITER
from holdfast.spark.sinks.database.dialects.jdbc.dialect import JdbcDialect
from holdfast.spark.sinks.database.dialects.jdbc.tables import check_table_name
from holdfast.spark.sinks.database.dialects.postgres.dialect import PostgresDialect
from holdfast.spark.sinks.database.sink import DatabaseSink
from holdfast.spark.sinks.delta.commits import RESERVED_OPTIONS
from holdfast.spark.sinks.delta.sink import DeltaBatchSink
from holdfast.spark.sinks.development import ConsoleSink, MemorySink
from holdfast.spark.sinks.files import FILE_FORMATS, FileBatchSink
from holdfast.spark.sinks.sink import BatchSink

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Opener = Callable[["SparkSession", ReadyJob], BatchSink]

_MODES = ("append", "upsert", "complete")


def open_sink(session: SparkSession, job: ReadyJob, *, console: TextIO | None = None) -> BatchSink:
    """Open a job's sink; nothing is written, and its rows are not looked at yet."""
    if job.sink.format == "console":
        return ConsoleSink(console)
    opener = _OPENERS.get(job.sink.format)
    if opener is None:
        message = f"this version cannot write {job.sink.format} yet"
        raise SinkError("HF5001", message, at=job.sink.at)
    return opener(session, job)


def _delta(session: SparkSession, job: ReadyJob) -> BatchSink:
    sink = job.sink
    _check_mode(sink)
    if sink.path is None:
        raise _undeclared(sink, "a delta sink requires a path")
    taken = sorted(name for name in sink.options if name.lower() in RESERVED_OPTIONS)
    if taken:
        raise _undeclared(sink, f"{', '.join(taken)} cannot be set: it identifies a batch")
    if sink.location is None:
        message = "the table's log cannot be read from here without Spark"
        raise SinkError("HF5009", message, at=sink.at)
    return DeltaBatchSink(session, sink, sink.location)


def _files(session: SparkSession, job: ReadyJob) -> BatchSink:
    sink = job.sink
    if sink.mode not in ("append", "complete"):
        raise _undeclared(sink, f"a {sink.format} sink supports the modes append and complete")
    if sink.path is None:
        raise _undeclared(sink, f"a {sink.format} sink requires a path")
    if sink.location is None:
        message = "the directory cannot be read and written from here without Spark"
        raise SinkError("HF5009", message, at=sink.at)
    if sink.mode == "complete" and not sink.location.is_local:
        message = (
            f"mode complete requires a directory that can be renamed; {sink.location.shown} cannot"
        )
        raise SinkError("HF5021", message, at=sink.at)
    return FileBatchSink(session, sink, FileOutput(sink.location, sink.settings))


def _memory(session: SparkSession, job: ReadyJob) -> BatchSink:
    _check_mode(job.sink)
    return MemorySink(session, job.sink, job.name)


def _postgres(session: SparkSession, job: ReadyJob) -> BatchSink:
    sink = job.sink
    _check_mode(sink)
    if sink.url is None or sink.table is None:
        raise _undeclared(sink, "a postgres sink requires a url and a table")
    if sink.batch_column is not None and sink.mode != "append":
        raise _undeclared(sink, "batch_column is for mode append")
    address = postgres_address(sink.url, sink.table, sink.options, sink.at)
    return DatabaseSink(sink, PostgresDialect(sink, address), session)


def _jdbc(session: SparkSession, job: ReadyJob) -> BatchSink:
    sink = job.sink
    _check_mode(sink)
    if sink.url is None or sink.table is None:
        raise _undeclared(sink, "a jdbc sink requires a url and a table")
    if not sink.url.startswith("jdbc:"):
        raise _undeclared(sink, "the url of a jdbc sink must begin with jdbc:")
    if sink.batch_column is not None and sink.mode != "append":
        raise _undeclared(sink, "batch_column is for mode append")
    taken = sorted(name for name in sink.options if name.lower() in OF_JDBC_WRITER)
    if taken:
        raise _undeclared(sink, f"{', '.join(taken)} cannot be set: the sink decides it")
    check_table_name(sink.table, sink.at)
    return DatabaseSink(sink, JdbcDialect(session, sink, sink.url), session)


def check_function(sink: ReadySink) -> None:
    """Raise HF5002 for a function of a program that can't be called with a batch and its id."""
    function = sink.function
    if callable(function):
        _check_arguments(sink, function, getattr(function, "__qualname__", type(function).__name__))


def _check_arguments(sink: ReadySink, function: Callable[..., object], name: str) -> None:
    try:
        signature(function).bind(None, None)
    except TypeError as error:
        message = f"{name} cannot be called with a batch and its id: {error}"
        steps = ("let it take two arguments: def deliver(batch, batch_id): …",)
        raise SinkError("HF5002", message, at=sink.at, next_steps=steps) from error
    except ValueError:
        # Some functions of C have no signature that can be read: they are called as they are.
        return


def _custom(_: SparkSession, job: ReadyJob) -> BatchSink:
    function = job.sink.function
    if function is None:
        raise _undeclared(job.sink, "a custom sink requires a function")
    if isinstance(function, FunctionReference):
        loaded, name = load_function(function), f"{function.module}:{function.name}"
    elif callable(function):
        loaded, name = function, getattr(function, "__qualname__", type(function).__name__)
    else:
        raise _undeclared(job.sink, "the function of a custom sink is not callable")
    _check_arguments(job.sink, loaded, name)
    options = ledger_options_of(loaded)
    # As everywhere, relative paths count from the project, in a program from where it works.
    folder = job.folder if job.project is not None else Path.cwd()
    ledger = None if options is None else options.ledger(job.checkpoint, job.settings, folder)
    return CustomSink(loaded, name, ledger)


_OPENERS: Mapping[str, Opener] = {
    "delta": _delta,
    **dict.fromkeys(FILE_FORMATS, _files),
    "postgres": _postgres,
    "jdbc": _jdbc,
    "memory": _memory,
    "custom": _custom,
}


def _check_mode(sink: ReadySink) -> None:
    if sink.mode not in _MODES:
        raise _undeclared(sink, f"unknown mode {sink.mode}; known modes: {', '.join(_MODES)}")
    if sink.mode == "upsert" and not sink.key:
        raise _undeclared(sink, "an upsert requires a key: the columns that identify a row")


def _undeclared(sink: ReadySink, message: str) -> SinkError:
    return SinkError("HF5002", message, at=sink.at)
