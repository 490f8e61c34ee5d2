"""What is known of a job's output without Spark: whether it can be cleared, whether it is empty."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.errors import DecodeError, HoldfastError, PlanError, StorageError
from holdfast.format.strictjson import decode_object
from holdfast.jobs.ready import ReadyJob, ReadySink
from holdfast.ledgers.delta.log import list_log
from holdfast.ledgers.delta.rewind import find_beginning, versions_newest_first
from holdfast.ledgers.delta.transactions import LOG_FOLDER
from holdfast.ledgers.sinkstate import Contents, SinkAnswer, SinkState
from holdfast.storage.beside import part_of
from holdfast.storage.location import Location, canonical
from holdfast.storage.opening import open_reader
from holdfast.storage.reading import Reader

FILES = frozenset({"parquet", "csv", "json", "orc"})
TABLES = frozenset({"postgres", "jdbc"})
CLEARABLE = FILES | TABLES | {"delta"}
"""Kinds of sinks of which Holdfast can remove everything, also their memory of batches."""


@dataclass(frozen=True)
class OutputSeen:
    """A declared output at one look, without Spark."""

    not_clearable: str | None = None
    """Why it cannot be cleared; None where nothing speaks against it, as far as that shows."""
    is_empty: bool | None = None
    """Whether it holds no row; None where that cannot be determined without Spark."""


NOT_LOOKED = OutputSeen()


def look_at_job_output(job: ReadyJob, sight: SinkState | None) -> OutputSeen:
    """Look at the output of a job; nothing is written, and Spark is not started."""
    return OutputSeen(_why_not_clearable(job.sink), _is_empty(job.sink, sight))


def can_fence(sink: ReadySink) -> bool:
    """Return whether the sink can lock older drivers out and keep its rows."""
    return not sink.native and sink.format in CLEARABLE


OUTPUT, OUTPUT_KIND, TABLE, TABLE_ID = "output", "output_kind", "table", "table_id"
"""Arguments of steps on the sink: which output the plan is about. Plans of before have none."""


def declared_output(sink: ReadySink) -> dict[str, str]:
    """Return what names an output: one text for one place, without secrets."""
    if sink.location is not None:
        place = canonical(sink.location)
    elif sink.url is not None and sink.table is not None:
        from holdfast.jobs.endpoints import table_identity

        place = table_identity(sink.url, sink.table)
    else:
        place = sink.path or sink.table or sink.format
    return {OUTPUT_KIND: f"native {sink.format}" if sink.native else sink.format, OUTPUT: place}


def table_seen(sight: SinkState | None) -> dict[str, str]:
    """Return what tells a table from every other one, as far as it was seen."""
    seen = {} if sight is None else {TABLE: sight.place, TABLE_ID: sight.incarnation}
    return {name: one for name, one in seen.items() if one is not None}


def refuse_other_output(planned: Mapping[str, str], sink: ReadySink, at: str) -> None:
    """Raise PlanError (HF4647) where a plan is about another output than the declared one."""
    for name, now in declared_output(sink).items():
        if planned.get(name, now) != now:
            shown = " ".join(planned[one] for one in (OUTPUT_KIND, OUTPUT) if one in planned)
            message = (
                f"the plan is about the output {shown}; the job declares "
                f"{' '.join(declared_output(sink).values())} at {sink.at}"
            )
            raise PlanError("HF4647", message, at=at)


def refuse_other_table(planned: Mapping[str, str], now: Mapping[str, str], at: str) -> None:
    """Raise PlanError (HF4647, HF4648) where a plan is about another table than the one here."""
    for name, code in ((TABLE, "HF4647"), (TABLE_ID, "HF4648")):
        if name in planned and name in now and planned[name] != now[name]:
            message = f"the plan is about the table {planned[name]}; now it is {now[name]}"
            raise PlanError(code, message, at=at)


def _why_not_clearable(sink: ReadySink) -> str | None:
    if sink.native:
        return f"Spark's own {sink.format} sink writes it, and keeps no record of what is its own"
    if sink.format not in CLEARABLE:
        return f"Holdfast cannot remove rows from a {sink.format} sink"
    if sink.format != "delta" or sink.location is None:
        return None
    try:
        return _foreign_rows(sink, sink.location)
    except (StorageError, DecodeError) as error:
        return f"its log cannot be read: {error.message}"


def _foreign_rows(sink: ReadySink, location: Location) -> str | None:
    log = open_reader(part_of(location, LOG_FOLDER), sink.settings)
    newest = list_log(log).newest
    if newest is None:
        return None
    beginning = find_beginning(versions_newest_first(log, newest))
    if beginning.foreign is not None:
        return f"the table has rows of another writer, from version {beginning.foreign}"
    if not beginning.seen_whole:
        return (
            "the table's log no longer reaches back to its first row: whether all rows are the "
            "job's own is unknown"
        )
    return None


def _is_empty(sink: ReadySink, sight: SinkState | None) -> bool | None:
    try:
        if sink.location is not None:
            return _has_no_files(open_reader(sink.location, sink.settings), sink)
    except HoldfastError:
        return None
    if sight is None or sight.held.answer is SinkAnswer.UNKNOWN:
        return None
    if sight.held.answer is SinkAnswer.BATCH or sight.contents is Contents.UNKNOWN:
        return None
    return sight.contents.is_without_rows


def _has_no_files(folder: Reader, sink: ReadySink) -> bool | None:
    """Return whether a directory shows no file to a plain reader, or a table has no data file."""
    names = {one for one in folder.names("") if not one.startswith((".", "_"))}
    if sink.format != "delta" or LOG_FOLDER not in folder.names(""):
        return not names
    log = open_reader(part_of(_place(sink), LOG_FOLDER), sink.settings)
    files = list_log(log)
    summary = None if files.newest is None else files.summaries.get(files.newest)
    if summary is None:
        return None
    told = decode_object(log.read(summary).decode("utf-8", "replace"), what="a Delta summary")
    count = told.get("numFiles")
    return count == 0 if isinstance(count, int) else None


def _place(sink: ReadySink) -> Location:
    assert sink.location is not None
    return sink.location
