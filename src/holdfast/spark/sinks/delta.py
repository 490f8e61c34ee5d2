"""Writes batches to a Delta table: each one exactly once, and never two versions of a batch.

Before a batch is written the table is asked what it holds of the query; afterwards whose commit it
holds now, because Delta skips silently what another driver committed in between.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.crashpoints import reach
from holdfast.errors import DecodeError, SinkError, StorageError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.asking import ask_sink
from holdfast.ledgers.delta import LOG_FOLDER, read_delta_ledger
from holdfast.ledgers.deltafollowing import FollowedTable
from holdfast.ledgers.deltaidentity import CLOSED, current_application
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.spark.sinks.deltacommits import commit, create_table, is_conflict
from holdfast.spark.sinks.deltafit import TableFit
from holdfast.spark.sinks.deltafolder import strange_names
from holdfast.spark.sinks.deltatakeback import TakingBack
from holdfast.spark.sinks.keys import rows_to_write
from holdfast.spark.sinks.sink import Delivery
from holdfast.spark.sinks.skipping import skip
from holdfast.spark.sinks.tablefit import (
    check_columns,
    check_merged_names,
    check_new_table,
)
from holdfast.storage.location import Location, parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

ATTEMPTS = 6
"""How often a batch is tried that other writers' commits get in the way of."""
_FIRST_PAUSE_SECONDS = 0.1


class DeltaSink:
    """A Delta table that takes the batches of one job."""

    kind = "delta"
    promise = (
        "every batch once: one that the table holds with the same offsets is skipped, one with "
        "other offsets stops the job"
    )

    def __init__(self, session: SparkSession, sink: ReadySink, location: Location) -> None:
        self._session = session
        self._sink = sink
        self._location = location
        self._table: tuple[str, FollowedTable] | None = None
        self._known: frozenset[str] | None = None
        self._fit = TableFit(session, sink)
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
        if strange:
            message = f"{self.identity} is no Delta table and holds {', '.join(strange)}"
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
            self._refuse_others(table, identity)
            found = table.batch(identity.batch_id)
            if found is None:
                self._refuse_untold(table, identity)
                return skip(batch)
            if found.table_version <= before or found.generation != identity.generation:
                return skip(batch)
            return Delivery(skipped=False, rows=found.rows)

    def last_committed(self, query_id: str) -> LastCommitted:
        """Give the newest batch that the table holds of this query, without Spark; never raises."""
        return ask_sink(self._location.shown, self._below).last_committed(query_id)

    def queries(self) -> frozenset[str]:
        """Name every application that the table's log knows; empty where it can't be read."""
        ledger = ask_sink(self._location.shown, self._below).delta
        return frozenset(ledger.transactions) if ledger is not None else frozenset()

    def rewind(self, query_id: str, batch_id: int) -> None:
        """Take back every batch of a query after this one, or raise HF5011 and change nothing.

        With -1 all of them go. What was begun before and not finished is finished first.
        """
        with self._taking_back() as table:
            table.rewind(query_id, batch_id)

    def clear(self) -> None:
        """Remove every row and the whole memory of batches, or raise HF5011 and change nothing."""
        with self._taking_back() as table:
            table.clear()

    @contextmanager
    def _taking_back(self) -> Iterator[TakingBack]:
        shown = self._location.shown
        try:
            with self._asked():
                yield TakingBack(self._session, self._sink, self._below(LOG_FOLDER), shown)
        finally:
            self._table = self._known = None

    def _followed(self, query_id: str) -> FollowedTable:
        """Give the table under the name that the query had when this sink was prepared.

        An old driver must not learn a newer one: what it brings was planned before the taking back.
        """
        if self._table is None or self._table[0] != query_id:
            name = None if self._known is None else current_application(self._known, query_id)
            self._table = (query_id, FollowedTable(self._below(LOG_FOLDER), query_id, name))
        return self._table[1]

    def _holds(self, table: FollowedTable, identity: BatchIdentity) -> bool:
        """Tell whether the table holds this batch; raise where it holds another one of its id."""
        with self._asked():
            table.look()
        if table.closed:
            raise self._closed(table, identity.query_id)
        following = 0 if table.last_batch is None else table.last_batch + 1
        if table.application.number and identity.batch_id > following:
            message = f"{self.identity} was taken back, and goes on with batch {following}; "
            raise SinkError("HF5061", f"{message}this is {identity.batch_id}", at=self.identity)
        if identity.batch_id >= following:
            return False
        self._refuse_others(table, identity)
        return True

    def _closed(self, table: FollowedTable, query_id: str) -> SinkError:
        """Give the error of a name under which nothing can be written any more."""
        with self._asked():
            ledger, closing = read_delta_ledger(self._below(LOG_FOLDER)), table.batch(CLOSED)
        newest = current_application(ledger.identifiers if ledger else (), query_id)
        if closing is not None and closing.act is not None and newest == table.application:
            message = f"{self.identity}: batches of the query {query_id} are being taken back"
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
        if found is not None and found.offsets_digest not in (None, identity.offsets_digest):
            message = (
                f"{self.identity} holds batch {identity.batch_id} with other offsets, "
                f"in version {found.table_version} of the table"
            )
            raise SinkError("HF5003", message, at=self.identity)

    def _refuse_untold(self, table: FollowedTable, identity: BatchIdentity) -> None:
        """Raise where Delta skipped a batch that the table does not hold: its name is closed."""
        if table.closed:
            raise self._closed(table, identity.query_id)
        if table.last_batch is None or table.last_batch < identity.batch_id:
            message = f"Delta skipped batch {identity.batch_id}, and the part of the log of "
            message += f"{self.identity} that can be read does not tell why"
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
                    message = f"batch {identity.batch_id} met other commits {ATTEMPTS} times"
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
            message = f"{self.identity} can't be asked: {error.message}"
            raise SinkError("HF5009", message, at=error.at or self.identity) from error
