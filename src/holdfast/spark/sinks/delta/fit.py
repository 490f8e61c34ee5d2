"""Holds rows against a Delta table: what does not fit is refused before anything is written."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

from pyspark.errors import PySparkException

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.delta.following import FollowedTable
from holdfast.ledgers.delta.transactions import DeltaLedger
from holdfast.spark.sinks.delta.commits import grows
from holdfast.spark.sinks.keys import quoted
from holdfast.spark.sinks.tablefit import check_fit

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.types import StructType


class TableFit:
    """Which rows a table takes; each check raises HF5005."""

    def __init__(self, session: SparkSession, sink: ReadySink) -> None:
        self._session = session
        self._sink = sink
        self._fitting: tuple[StructType, str | None] | None = None

    def check_start(self, schema: StructType, table: DeltaLedger) -> None:
        """Refuse rows or a partitioning that the table does not have."""
        self._check_partitions(table)
        if not grows(self._sink):
            check_fit(schema, self._columns(table.table_schema), self._sink)

    def check_batch(self, schema: StructType, table: FollowedTable) -> None:
        """Refuse a batch that came with other rows, or meets a table that others altered."""
        if table.newest_version is None or grows(self._sink):
            return
        if self._fitting != (schema, table.table_schema):
            check_fit(schema, self._columns(table.table_schema), self._sink)
            self._fitting = (schema, table.table_schema)

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

    def _columns(self, told: str | None) -> StructType:
        """Give the table's columns as its log tells them; Spark is asked, slowly, where not."""
        from pyspark.sql.types import StructType

        if told is not None:
            with suppress(ValueError, KeyError, TypeError, RecursionError, PySparkException):
                return StructType.fromJson(json.loads(told))
        return self._session.read.format("delta").load(self._sink.path).schema
