"""Writes batches to a Delta table: each one exactly once, and never two versions of a batch.

Before a batch is written the table is asked what it holds of the query; afterwards whose commit it
holds now, because Delta skips silently what another driver committed in between.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.crashpoints import reach
from holdfast.errors import DecodeError, NotFoundError, SinkError, StorageError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.asking import ask_sink
from holdfast.ledgers.delta import CLOSED, LOG_FOLDER, DeltaLedger, read_delta_ledger
from holdfast.ledgers.deltafollowing import FollowedTable
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.spark.sinks.deltacommits import commit, create_table, grows, is_conflict
from holdfast.spark.sinks.keys import one_row_a_key, quoted
from holdfast.spark.sinks.sink import Delivery, cannot_take_back
from holdfast.spark.sinks.skipping import skip
from holdfast.spark.sinks.tablefit import (
    check_columns,
    check_fit,
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
_DATA_FILE = re.compile(r"part-\d{5}-[0-9a-f-]{36}[-.].*")


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
        self.identity: str | None = location.shown

    def prepare(self, schema: StructType, *, begun: bool) -> None:
        """Refuse rows that the table can't take, and a folder that is none; nothing is written."""
        check_columns(schema, self._sink)
        check_merged_names(schema, self._sink)
        with self._asked():
            table = read_delta_ledger(self._below(LOG_FOLDER))
            strange = () if table else self._strange_names(begun=begun)
        if strange:
            message = f"{self.identity} is no Delta table and holds {', '.join(strange)}"
            raise SinkError("HF5006", message, at=self._sink.at)
        if table is None:
            check_new_table(schema, self._sink)
            return
        self._check_partitions(table)
        if not grows(self._sink):
            check_fit(schema, self._table_schema(table), self._sink)

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Commit the batch's rows and its identity in one version of the table, or skip it."""
        table = self._followed(identity.query_id)
        if self._holds(table, identity):
            return skip(batch)
        before = -1 if table.newest_version is None else table.newest_version
        with self._rows(batch) as rows:
            self._commit(rows, identity, table)
            with self._asked():
                table.look()
            self._refuse_others(table, identity)
            found = table.batch(identity.batch_id)
            if (
                found is None
                or found.table_version <= before
                or found.generation != identity.generation
            ):
                return skip(batch)
            return Delivery(skipped=False, rows=found.rows)

    def last_committed(self, query_id: str) -> LastCommitted:
        """Give the newest batch that the table holds of this query, without Spark; never raises."""
        return ask_sink(self._location.shown, self._below).last_committed(query_id)

    def queries(self) -> frozenset[str]:
        """Name every application that the table's log knows; empty where it can't be read."""
        ledger = ask_sink(self._location.shown, self._below).delta
        return frozenset(ledger.transactions) if ledger is not None else frozenset()

    def rewind(self, query_id: str, batch_id: int) -> None:  # noqa: ARG002 - of any batch
        """Refuse: nothing is taken back."""
        raise cannot_take_back(self.kind, self.identity)

    def clear(self) -> None:
        """Refuse: nothing is taken back."""
        raise cannot_take_back(self.kind, self.identity)

    def _followed(self, query_id: str) -> FollowedTable:
        if self._table is None or self._table[0] != query_id:
            self._table = (query_id, FollowedTable(self._below(LOG_FOLDER), query_id))
        return self._table[1]

    def _holds(self, table: FollowedTable, identity: BatchIdentity) -> bool:
        """Tell whether the table holds this batch; raise where it holds another one of its id."""
        with self._asked():
            table.look()
        if table.last_batch == CLOSED:
            message = f"{self.identity} is closed for the query {identity.query_id}"
            raise SinkError("HF5004", message, at=self.identity)
        if table.last_batch is None or table.last_batch < identity.batch_id:
            return False
        self._refuse_others(table, identity)
        return True

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

    def _commit(self, rows: DataFrame, identity: BatchIdentity, table: FollowedTable) -> None:
        """Commit once, again where somebody else's commit came between."""
        for attempt in range(ATTEMPTS):
            try:
                reach("sink.before-commit")
                commit(rows, identity, self._sink)
                reach("sink.after-commit")
                return
            except (Py4JError, PySparkException) as error:
                if not is_conflict(error):
                    raise
                if self._holds(table, identity):
                    return
                if attempt + 1 == ATTEMPTS:
                    message = f"batch {identity.batch_id} met other commits {ATTEMPTS} times"
                    raise SinkError("HF5010", message, at=self.identity) from error
                time.sleep(_FIRST_PAUSE_SECONDS * 2**attempt)

    @contextmanager
    def _rows(self, batch: DataFrame) -> Iterator[DataFrame]:
        """Give the rows to write. Those of an upsert are looked at first, and computed once."""
        if self._sink.mode != "upsert":
            yield batch
            return
        batch.persist()
        try:
            rows = one_row_a_key(batch, self._sink.key, self._sink.order_by, self._sink.at)
            create_table(batch.sparkSession, batch, self._sink)
            yield rows
        finally:
            batch.unpersist()

    def _check_partitions(self, table: DeltaLedger) -> None:
        if not self._sink.partition_by:
            return
        there = table.partition_columns
        if there is None:
            path = quoted(self._sink.path or "")
            detail = self._session.sql(f"describe detail delta.{path}").collect()[0]
            there = tuple(detail["partitionColumns"])
        if there != tuple(self._sink.partition_by):
            message = f"the table is partitioned by {', '.join(there) or 'nothing'}, not by "
            message += ", ".join(self._sink.partition_by)
            step = "leave `partition_by` out, or name what the table has"
            raise SinkError("HF5005", message, at=self._sink.at, next_steps=(step,))

    def _table_schema(self, table: DeltaLedger) -> StructType:
        """Give the table's columns from its log; Spark is asked, slowly, where that fails."""
        from pyspark.sql.types import StructType

        if table.table_schema is not None:
            with suppress(ValueError, KeyError, PySparkException):
                return StructType.fromJson(json.loads(table.table_schema))
        return self._session.read.format("delta").load(self._sink.path).schema

    def _strange_names(self, *, begun: bool) -> tuple[str, ...]:
        """Name what is not ours; data files without a log are, once a first batch broke off."""
        try:
            names = open_reader(self._location, self._sink.settings).names("")
        except NotFoundError:
            return ()
        strange = [name for name in names if not name.startswith(".")]
        if begun:
            strange = [name for name in strange if not self._is_left_behind(name)]
        return tuple(sorted(strange))[:3]

    def _is_left_behind(self, name: str) -> bool:
        folders = tuple(f"{column}=" for column in self._sink.partition_by)
        is_data = _DATA_FILE.fullmatch(name) is not None or name.startswith(folders)
        return is_data or name == LOG_FOLDER

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
