"""Spark's own sink: what it promises, and what can be read of the batches that it holds.

Spark writes the rows itself, so nothing here is called for a batch. What such a sink remembers is
read without Spark where the format is known: the identifiers in a Delta log, `_spark_metadata` of
the file sink. Nobody can ask any other one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.errors import SinkError, StorageError
from holdfast.jobs.ready import ReadyJob, spark_path
from holdfast.ledgers.delta.batches import current_application
from holdfast.ledgers.delta.transactions import DeltaLedger
from holdfast.ledgers.files.output import is_hidden
from holdfast.ledgers.reading import OpenBelow, SinkMemory, ask_sink
from holdfast.ledgers.sinkstate import (
    NO_QUERY_YET,
    Contents,
    LastCommitted,
    NativeSinkState,
    SinkAnswer,
    SinkState,
    cannot_be_asked,
)
from holdfast.ledgers.sparkfilesink import FORMATS as FILE_FORMATS
from holdfast.ledgers.sparkfilesink import FileSinkLog
from holdfast.spark.sinks.delta.commits import contents_of_table
from holdfast.spark.sinks.sink import cannot_rewind
from holdfast.storage.beside import beside, part_of
from holdfast.storage.location import Location, canonical, parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType

_OWN: Mapping[str, str] = {
    "delta": (
        "Spark's own Delta sink: a batch id of this query that is already in the table is "
        "skipped, whatever its offsets"
    ),
    "kafka": "Spark's own Kafka sink: at least once; a batch that runs again is written again",
    **dict.fromkeys(
        FILE_FORMATS,
        "Spark's own file sink: a batch id already in _spark_metadata is skipped; readers that "
        "ignore this log may see files of interrupted attempts",
    ),
}
_WITHOUT = (
    "no fence against a late driver, no copies of offsets before delivery; a batch interrupted by "
    "a stop runs again"
)


class NativeSink:
    """Spark's own sink of a job, as far as it can be seen from outside."""

    def __init__(self, session: SparkSession, job: ReadyJob) -> None:
        self._session = session
        self._sink = job.sink
        self._settings = job.settings if job.sink.location is None else job.sink.settings
        self.kind = job.sink.format.lower()
        topic = job.sink.options.get("topic")
        self.identity: str | None = job.sink.table or topic
        if job.sink.path is not None:
            place = job.sink.location
            self.identity = job.sink.path if place is None else place.shown
        known = f"Spark's own {job.sink.format} sink: whether it recognizes a batch that runs again"
        own = _OWN.get(self.kind, f"{known} is up to that sink")
        self.promise = f"{own}. Run by Spark itself: {_WITHOUT}"

    def prepare(self, schema: StructType, *, begun: bool) -> None:  # noqa: ARG002 - Spark's to judge
        """Refuse a folder whose files this sink would hide, or would double."""
        location, kind = self._place()
        if location is None or kind not in FILE_FORMATS:
            return
        memory = self._memory(location)
        if memory.own is not None:
            message = f"{location.shown} contains batches of Holdfast's own file sink"
            step = "leave out `native: true`, or give the sink a directory of its own"
            raise SinkError("HF5006", message, at=self._sink.at, next_steps=(step,))
        if memory.files is None and not begun and self._has_files(location):
            message = f"{location.shown} contains files that Spark's readers will no longer see "
            message += "once its file sink has written there"
            raise SinkError("HF5006", message, at=self._sink.at)

    def last_committed(self, query_id: str) -> LastCommitted:
        """Return the newest batch that the sink holds of this query; never raises."""
        location, kind = self._place()
        if location is None or kind not in FILE_FORMATS | {"delta"}:
            return self._unknown(location)
        return ask_sink(location.shown, self._below(location)).last_committed(query_id)

    def sight(self, query_id: str | None) -> SinkState:
        """Return what the log of the sink holds, where it has one that can be read."""
        location, kind = self._place()
        if location is None and self._is_absent_table():
            nothing = LastCommitted.nothing("the table does not exist")
            native = NativeSinkState(lacks_log=self.kind in FILE_FORMATS)
            return SinkState(nothing, self._sink.table, contents=Contents.ABSENT, native=native)
        if location is None or kind not in FILE_FORMATS | {"delta"}:
            return SinkState(self._unknown(location), native=NativeSinkState())
        memory = self._memory(location)
        if kind == "delta":
            return self._delta(location, memory, query_id)
        return self._files(location, memory.files, query_id)

    def queries(self) -> frozenset[str]:
        """Name every application that a Delta log knows; empty for any other sink."""
        location, kind = self._place()
        if location is None or kind != "delta":
            return frozenset()
        ledger = ask_sink(location.shown, self._below(location)).delta
        return frozenset(ledger.transactions) if ledger is not None else frozenset()

    def rewind(self, query_id: str, batch_id: int, *, generation: int) -> None:  # noqa: ARG002 - of any batch
        """Refuse: nothing is taken back."""
        raise cannot_rewind(f"native {self.kind}", self.identity)

    def clear(
        self,
        *,
        generation: int,  # noqa: ARG002 - of any batch
        queries: Collection[str] | None = None,  # noqa: ARG002 - of any query
    ) -> None:
        """Refuse: nothing is taken back."""
        raise cannot_rewind(f"native {self.kind}", self.identity)

    def _files(
        self, location: Location, log: FileSinkLog | None, query_id: str | None
    ) -> SinkState:
        place = canonical(location)
        if log is None:
            nothing = LastCommitted.nothing("the folder holds no _spark_metadata")
            contents = Contents.EMPTY if self._exists(location) else Contents.ABSENT
            native = NativeSinkState(lacks_log=True)
            return SinkState(nothing, place, contents=contents, native=native)
        written_ms = None if log.newest is None else log.written_ms.get(log.newest)
        native = NativeSinkState(written_ms=written_ms)
        return SinkState(log.last_committed(query_id), place, native=native)

    def _delta(self, location: Location, memory: SinkMemory, query_id: str | None) -> SinkState:
        place, table = canonical(location), memory.delta
        if table is None:
            contents = Contents.ROWS if self._has_files(location) else Contents.ABSENT
            nothing = LastCommitted.nothing("the folder holds no Delta log")
            return SinkState(nothing, place, contents=contents, native=NativeSinkState())
        if query_id is None:
            nothing = LastCommitted.nothing(NO_QUERY_YET)
            return SinkState(nothing, place, table.table_id, native=NativeSinkState())
        held, contents = table.last_committed(query_id), Contents.UNKNOWN
        if held.answer is SinkAnswer.NOTHING:
            path = spark_path(location, self._settings)
            contents = contents_of_table(self._session, path)
        return SinkState(
            held,
            place,
            table.table_id,
            contents,
            forgets_after=table.retention,
            native=NativeSinkState(continues_as=_continued(table, query_id)),
        )

    def _unknown(self, location: Location | None) -> LastCommitted:
        if self._sink.path is not None and location is None:
            return LastCommitted.unknown("its log cannot be read from here without Spark")
        return LastCommitted.unknown(f"a {self.kind} sink keeps no record of batches that is read")

    def _place(self) -> tuple[Location | None, str]:
        """Return where the rows are and their format; no place where that is no folder."""
        if self._sink.table is None:
            return self._sink.location, self.kind
        described = self._described(self._sink.table)
        try:
            return parse_location(described["Location"]), described["Provider"].lower()
        except (KeyError, StorageError):
            return None, self.kind

    def _described(self, table: str) -> Mapping[str, str]:
        """Return what the catalog says of a table; nothing where it does not know it."""
        try:
            if not self._session.catalog.tableExists(table):
                return {}
            rows = self._session.sql(f"DESCRIBE TABLE EXTENDED {table}").collect()
        except (Py4JError, PySparkException):
            # What keeps Spark from finding the table ends the start with Spark's own words.
            return {}
        return {str(row["col_name"]): str(row["data_type"]) for row in rows}

    def _is_absent_table(self) -> bool:
        table = self._sink.table
        try:
            return table is not None and not self._session.catalog.tableExists(table)
        except (Py4JError, PySparkException):
            return False

    def _memory(self, location: Location) -> SinkMemory:
        """Return what the folder remembers; raise HF5009 where it cannot be asked."""

        def open_beside(folder: str) -> Reader:
            return open_reader(part_of(beside(location), folder), self._settings)

        memory = ask_sink(location.shown, self._below(location), (), open_beside)
        if memory.failure is not None:
            raise cannot_be_asked(location.shown, memory.failure) from memory.failure
        return memory

    def _below(self, location: Location) -> OpenBelow:
        def open_below(folder: str) -> Reader:
            return open_reader(parse_location(f"{location.url}/{folder}"), self._settings)

        return open_below

    def _exists(self, location: Location) -> bool:
        return bool(open_reader(location, self._settings).names(""))

    def _has_files(self, location: Location) -> bool:
        names = open_reader(location, self._settings).names("")
        return any(not is_hidden(name) for name in names)


def _continued(table: DeltaLedger, query_id: str) -> str | None:
    """Return the newest name of a query whose batches were taken back; None for any other."""
    application = current_application(table.identifiers, query_id)
    if application.number:
        return application.id
    return application.following.id if table.last_committed(query_id).closed else None
