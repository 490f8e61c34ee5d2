"""Writes batches to a Delta table: each one exactly once, and never two versions of a batch.

Before a batch is written the table is asked what it holds of the query; afterwards whose commit it
holds now, because Delta skips silently what another driver committed in between.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.crashpoints import reach
from holdfast.errors import DecodeError, SinkError, StorageError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.delta.batches import CLOSED, current_application, fence_before
from holdfast.ledgers.delta.following import RESTORE, FollowedTable, Undoing, offsets_in_table
from holdfast.ledgers.delta.transactions import (
    LOG_FOLDER,
    DeltaLedger,
    read_delta_ledger,
    table_or_nothing,
)
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.reading import ask_sink
from holdfast.ledgers.sinkstate import (
    NO_QUERY_YET,
    CommittedOffsets,
    Contents,
    LastCommitted,
    SinkAnswer,
    SinkState,
    cannot_be_asked,
)
from holdfast.spark.sinks.database.ledgerstate import TableWatch
from holdfast.spark.sinks.delta.commits import (
    TableFit,
    commit,
    contents_of_table,
    create_table,
    is_conflict,
    strange_names,
)
from holdfast.spark.sinks.delta.givingback import DeltaGiveBack, TableMark
from holdfast.spark.sinks.delta.rewind import TableCommands
from holdfast.spark.sinks.rowchecks import (
    check_columns,
    check_merged_names,
    check_new_table,
    rows_to_write,
)
from holdfast.spark.sinks.sink import Delivery, skip
from holdfast.storage.location import Location, canonical, parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

ATTEMPTS = 8
"""How often a batch is tried that other writers' commits get in the way of."""
_FIRST_PAUSE_SECONDS = 0.1
_COMMITTED_ELSEWHERE = (
    "the table was removed while the rows of this batch were computed, and Delta made a new one "
    "for them: the rows of earlier batches are missing, and Spark does not deliver them again"
)


class DeltaBatchSink:
    """A Delta table that takes the batches of one job."""

    kind = "delta"
    promise = (
        "exactly once. A batch already in the table is skipped; the same batch id with "
        "different offsets stops the job"
    )

    def __init__(self, session: SparkSession, sink: ReadySink, location: Location) -> None:
        self._session = session
        self._sink = sink
        self._location = location
        self._table: tuple[str, FollowedTable] | None = None
        self._known: frozenset[str] | None = None
        self._fit = TableFit(session, sink)
        self._watch = TableWatch(sink, location.shown)
        self.identity: str | None = location.shown

    def prepare(self, schema: StructType, *, begun: bool) -> None:
        """Refuse rows that the table can't take, and a folder that is none; nothing is written."""
        check_columns(schema, self._sink)
        check_merged_names(schema, self._sink)
        with self._asked():
            table = read_delta_ledger(self._below(LOG_FOLDER))
            folder = open_reader(self._location, self._sink.settings)
            strange = () if table else strange_names(folder, self._sink, begun=begun)
        self._known = frozenset(table.identifiers if table else ())
        self._watch.note(table.table_id if table else None)
        if strange:
            message = f"{self.identity} is not a Delta table and contains {', '.join(strange)}"
            raise SinkError("HF5006", message, at=self._sink.at)
        if table is None:
            check_new_table(schema, self._sink)
            return
        self._fit.check_start(schema, table)

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Commit the batch's rows and its identity in one version of the table, or skip it."""
        table = self._followed(identity.query_id)
        reach("delta.before-check")
        if self._holds(table, identity):
            return skip(batch)
        self._fit.check_batch(batch.schema, table)
        before = -1 if table.newest_version is None else table.newest_version
        with rows_to_write(batch, self._sink) as rows:
            if self._sink.mode == "upsert":
                create_table(batch.sparkSession, batch, self._sink)
            self._commit(rows, identity, table)
            with self._asked():
                table.look()
            self._refuse_other_table(table, why=_COMMITTED_ELSEWHERE)
            self._watch.note(table.table_id)
            self._refuse_others(table, identity)
            found = table.batch(identity.batch_id)
            if found is None:
                self._refuse_untold(table, identity)
                return skip(batch)
            if found.table_version <= before or found.generation != identity.generation:
                return skip(batch)
            return Delivery(skipped=False, rows=found.rows)

    def last_committed(self, query_id: str) -> LastCommitted:
        """Return the newest batch of this query in the table, without Spark; never raises."""
        return ask_sink(self._location.shown, self._below).last_committed(query_id)

    def offsets_of(self, query_id: str, batch_id: int) -> CommittedOffsets:
        """Return what the ledger has of one batch; never raises."""
        return offsets_in_table(self._below(LOG_FOLDER), query_id, batch_id)

    def sight(self, query_id: str | None) -> SinkState:
        """Return what is at the table's path.

        Rows are looked for only where no batch is known, or somebody else replaced the table since.
        """
        with self._asked():
            table = table_or_nothing(self._location, self._sink.settings)
        if isinstance(table, SinkState):
            return table
        place = canonical(self._location)
        if query_id is None:
            return SinkState(LastCommitted.nothing(NO_QUERY_YET), place, table.table_id)
        return self._looked_through(table, query_id, place)

    def _looked_through(self, table: DeltaLedger, query_id: str, place: str) -> SinkState:
        """Return what the versions of the log say of a query, beyond its identifiers."""
        with self._asked():
            followed = FollowedTable(self._below(LOG_FOLDER), query_id)
            followed.look()
            held = _held_in(table, followed, query_id)
            first = None if held.value is None else followed.first_batch()
            undone = None if held.value is None else followed.undone_after(held.value)
        contents = Contents.UNKNOWN
        if held.answer is SinkAnswer.NOTHING or undone is not None:
            contents = contents_of_table(self._session, self._sink.path)
        known = table.identifiers
        return SinkState(
            held,
            place,
            table.table_id,
            contents,
            doubt=None if undone is None else self._restored(undone, place, held),
            generation=max(
                fence_before(known, current_application(known, query_id)),
                followed.newest_generation,
            ),
            forgets_after=table.retention,
            may_have_forgotten=followed.may_have_forgotten and self._sink.mode != "complete",
            begins_with=first,
        )

    def _restored(self, undone: Undoing, place: str, held: LastCommitted) -> str | None:
        """Return what is strange about a table that was restored; a replaced one has another id."""
        if undone.operation != RESTORE or self._sink.mode == "complete":
            return None
        return (
            f"version {undone.version} of {place} restored an older version of the table after "
            f"batch {held.value} of this query: rows of that batch may be missing"
        )

    def queries(self) -> frozenset[str]:
        """Name every application that the table's log knows; empty where it can't be read."""
        ledger = ask_sink(self._location.shown, self._below).delta
        return frozenset(ledger.transactions) if ledger is not None else frozenset()

    def rewind(self, query_id: str, batch_id: int, *, generation: int) -> None:
        """Take back every batch of a query after this one, or raise HF5011 and change nothing.

        With -1 all of them go. What was begun before and not finished is finished first. No commit
        of an older generation is accepted afterwards, also where there was nothing to take back.
        """
        with self._taking_back(generation) as table:
            table.rewind(query_id, batch_id)

    def clear(self, *, generation: int, queries: Collection[str] | None = None) -> None:
        """Remove every row and the whole memory of batches, or raise HF5011 and change nothing.

        No commit of an older generation is accepted afterwards.
        """
        with self._taking_back(generation) as table:
            table.clear(queries)

    def fence(self, query_id: str | None, *, generation: int) -> None:
        """Lock older drivers of this query out of the table; without a table there is no fence.

        Other applications keep their names: Delta would skip their batches without a word.
        """
        if query_id is not None:
            with self._taking_back(generation) as table:
                table.fence(query_id)

    def mark(self) -> Mapping[str, Any]:
        """Return version and batches of now, with which `give_back` finds them again."""
        with self._asked():
            return TableMark.of(read_delta_ledger(self._below(LOG_FOLDER))).plain()

    def why_not_back(self, mark: Mapping[str, Any]) -> str | None:
        """Return why the marked rows cannot be brought back any more; None where they can."""
        with self._taking_back(0) as table:
            return table.why_not_back(TableMark.from_plain(mark))

    def give_back(self, mark: Mapping[str, Any], *, generation: int) -> None:
        """Restore the marked version, and open the next name of each query at its batch of then."""
        with self._taking_back(generation) as table:
            table.give_back(TableMark.from_plain(mark))

    @contextmanager
    def _taking_back(self, generation: int) -> Iterator[DeltaGiveBack]:
        commands = TableCommands(self._session, self._sink.path or "")
        try:
            with self._asked():
                log, shown = self._below(LOG_FOLDER), self._location.shown
                yield DeltaGiveBack(commands, self._sink, log, shown, generation)
        finally:
            self._table = self._known = None
            self._watch.note(None)

    def _followed(self, query_id: str) -> FollowedTable:
        """Return the table under the name that the query had when this sink was prepared.

        An old driver must not learn a newer one: what it brings was planned before the taking back.
        """
        if self._table is None or self._table[0] != query_id:
            name = None if self._known is None else current_application(self._known, query_id)
            self._table = (query_id, FollowedTable(self._below(LOG_FOLDER), query_id, name))
        return self._table[1]

    def _holds(self, table: FollowedTable, identity: BatchIdentity) -> bool:
        """Return whether the table holds this batch; raise where it holds another one of its id."""
        with self._asked():
            table.look()
        self._refuse_other_table(table)
        if table.closed:
            raise self._closed(table, identity.query_id)
        if identity.generation < table.fence:
            message = f"{self.identity} was rewound by generation {table.fence} "
            message += f"of the job; this driver is generation {identity.generation}"
            raise SinkError("HF5062", message, at=self.identity)
        following = 0 if table.last_batch is None else table.last_batch + 1
        if table.application.number and identity.batch_id > following:
            message = f"{self.identity} was rewound and continues with batch {following}; "
            raise SinkError("HF5061", f"{message}this is {identity.batch_id}", at=self.identity)
        if identity.batch_id >= following:
            self._refuse_older(table, identity)
            return False
        self._refuse_others(table, identity)
        return True

    def _refuse_older(self, table: FollowedTable, identity: BatchIdentity) -> None:
        """Raise HF5042 where a newer generation wrote the newest batch."""
        newest = table.newest_generation
        if identity.generation < newest:
            message = (
                f"generation {newest} wrote batch {table.last_batch} to {self.identity}; this "
                f"driver is generation {identity.generation}"
            )
            raise SinkError("HF5042", message, at=self.identity)

    def _refuse_other_table(self, table: FollowedTable, why: str | None = None) -> None:
        """Raise HF5027 where the table of before is gone; one whose id is not known may be it."""
        if table.newest_version is None or table.table_id is not None:
            self._watch.refuse_other(table.table_id, why)

    def _closed(self, table: FollowedTable, query_id: str) -> SinkError:
        """Return the error of a name under which nothing can be written any more."""
        with self._asked():
            ledger, closing = read_delta_ledger(self._below(LOG_FOLDER)), table.batch(CLOSED)
        newest = current_application(ledger.identifiers if ledger else (), query_id)
        if closing is not None and closing.act is not None and newest == table.application:
            message = f"{self.identity}: a rewind of the query {query_id} is in progress"
            return SinkError("HF5060", message, at=self.identity)
        message = f"{self.identity} is closed for the query {query_id}"
        return SinkError("HF5004", message, at=self.identity)

    def _refuse_others(self, table: FollowedTable, identity: BatchIdentity) -> None:
        """Raise where the table holds the batch's id with other offsets.

        A batch that Spark's native sink wrote has no digest, and one of long ago is not looked for
        without end: these are taken for the same.
        """
        with self._asked():
            found = table.batch(identity.batch_id)
        stored = None if found is None else found.offsets_digest
        if found is not None and stored is not None and not identity.has_offsets(stored):
            message = (
                f"{self.identity} has batch {identity.batch_id} with different offsets, in "
                f"version {found.table_version} of the table"
            )
            raise SinkError("HF5003", message, at=self.identity)

    def _refuse_untold(self, table: FollowedTable, identity: BatchIdentity) -> None:
        """Raise where Delta skipped a batch that the table does not hold: its name is closed."""
        if table.closed:
            raise self._closed(table, identity.query_id)
        if table.last_batch is None or table.last_batch < identity.batch_id:
            message = (
                f"Delta skipped batch {identity.batch_id}, and the readable part of the log of "
            )
            message += f"{self.identity} does not show why"
            raise SinkError("HF5009", message, at=self.identity)

    def _commit(self, rows: DataFrame, identity: BatchIdentity, table: FollowedTable) -> None:
        """Commit once, again where somebody else's commit came between."""
        for attempt in range(ATTEMPTS):
            try:
                reach("sink.before-commit")
                commit(rows, identity, self._sink, table.application.id)
                reach("sink.after-commit")
                return
            except (Py4JError, PySparkException) as error:
                if not is_conflict(error):
                    raise
                reach("delta.conflict")
                if self._holds(table, identity):
                    return
                if attempt + 1 == ATTEMPTS:
                    message = (
                        f"batch {identity.batch_id} conflicted with other commits {ATTEMPTS} times"
                    )
                    raise SinkError("HF5010", message, at=self.identity) from error
                time.sleep(_FIRST_PAUSE_SECONDS * 2**attempt)

    def _below(self, folder: str) -> Reader:
        return open_reader(parse_location(f"{self._location.url}/{folder}"), self._sink.settings)

    @contextmanager
    def _asked(self) -> Iterator[None]:
        """Turn what keeps the log from being read into an error of the sink."""
        try:
            yield
        except (StorageError, DecodeError) as error:
            raise cannot_be_asked(self.identity, error) from error


def _held_in(table: DeltaLedger, followed: FollowedTable, query_id: str) -> LastCommitted:
    """Return what a table holds of a query, also where only an older version still tells of it."""
    held = table.last_committed(query_id)
    if held.answer is not SinkAnswer.NOTHING or followed.last_batch is None:
        return held
    if followed.application.number:
        return held
    basis = "read from a version of the Delta log; the table has dropped the identifier"
    return LastCommitted.batch(followed.last_batch, basis)
