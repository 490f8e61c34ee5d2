"""Commits a batch to a Delta table, rows and identity in one version of the table.

The identity is the one of Spark's native sink, query id and batch id, so that jobs can join and
leave; a query whose batches were taken back has another application id. Delta itself skips a batch
whose identity the table holds when it commits.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.errors import NotFoundError, SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.delta.batches import user_metadata
from holdfast.ledgers.delta.following import FollowedTable
from holdfast.ledgers.delta.transactions import LOG_FOLDER, DeltaLedger
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.sinkstate import Contents
from holdfast.spark.sinks.rowchecks import check_fit, quoted
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession
    from pyspark.sql.types import StructType


RESERVED_OPTIONS = frozenset(("txnappid", "txnversion", "usermetadata", "path"))
"""What makes a batch itself, in lower case: never the user's."""

_CONFLICTS = frozenset(
    (
        "ConcurrentAppendException",
        "ConcurrentDeleteDeleteException",
        "ConcurrentDeleteReadException",
        "ConcurrentTransactionException",
        "ConcurrentWriteException",
        "MetadataChangedException",
        "ProtocolChangedException",
    )
)


def commit(rows: DataFrame, identity: BatchIdentity, sink: ReadySink, application_id: str) -> None:
    """Write the rows with the identity, as the sink's mode says; Delta may skip them silently."""
    options = _identity_options(identity, application_id)
    if sink.mode == "upsert":
        _merge(rows, options, sink)
        return
    mode = "overwrite" if sink.mode == "complete" else "append"
    writer = _writer(rows, sink).mode(mode).options(**options)
    if sink.mode == "complete":
        # A session may be set to replace only the partitions that the rows are in.
        writer = writer.option("partitionOverwriteMode", "static")
    writer.save(sink.path)


def create_table(session: SparkSession, rows: DataFrame, sink: ReadySink) -> None:
    """Make the table that a merge needs, empty; one that is there stays as it is."""
    _writer(session.createDataFrame([], rows.schema), sink).mode("ignore").save(sink.path)


def is_conflict(error: BaseException) -> bool:
    """Return whether somebody else's commit came between; nothing of ours was committed then."""
    cause: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None:
        if cause.getClass().getSimpleName() in _CONFLICTS:
            return True
        cause = cause.getCause()
    return False


def grows(sink: ReadySink) -> bool:
    """Return whether the user lets the table's schema follow the rows."""
    wanted = {"mergeschema"} | ({"overwriteschema"} if sink.mode == "complete" else set())
    return any(
        name.lower() in wanted and value.lower() == "true" for name, value in sink.options.items()
    )


def _writer(rows: DataFrame, sink: ReadySink) -> DataFrameWriter:
    writer = rows.write.format("delta").options(**sink.options)
    return writer.partitionBy(*sink.partition_by) if sink.partition_by else writer


def _identity_options(identity: BatchIdentity, application_id: str) -> dict[str, str]:
    return {
        "txnAppId": application_id,
        "txnVersion": str(identity.batch_id),
        "userMetadata": user_metadata(identity),
    }


def _merge(rows: DataFrame, options: Mapping[str, str], sink: ReadySink) -> None:
    session = rows.sparkSession
    condition = " and ".join(f"held.{quoted(name)} = given.{quoted(name)}" for name in sink.key)
    machine: Any = session.sparkContext._jvm
    with _identity_settings(session, options):
        table = machine.io.delta.tables.DeltaTable.forPath(session._jsparkSession, sink.path)
        merge = table.alias("held").merge(rows.alias("given")._jdf, condition)
        if grows(sink):
            merge = merge.withSchemaEvolution()
        matched = merge.whenMatched(_not_newer(sink)) if sink.keeps_newer else merge.whenMatched()
        matched.updateAll().whenNotMatched().insertAll().execute()


def _not_newer(sink: ReadySink) -> str:
    """Spell that the row of the table is not newer; null is the oldest, and equal is not newer."""
    order = quoted(sink.order_by or "")
    return f"held.{order} is null or given.{order} >= held.{order}"


@contextmanager
def _identity_settings(session: SparkSession, options: Mapping[str, str]) -> Iterator[None]:
    """Say whose commit the next one is: a merge takes it from the session of the batch alone."""
    settings: Mapping[str, str] = {
        "spark.databricks.delta.write.txnAppId": options["txnAppId"],
        "spark.databricks.delta.write.txnVersion": options["txnVersion"],
        "spark.databricks.delta.commitInfo.userMetadata": options["userMetadata"],
    }
    try:
        for name, value in settings.items():
            session.conf.set(name, value)
        yield
    finally:
        for name in settings:
            session.conf.unset(name)


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

    def _columns(self, reported: str | None) -> StructType:
        """Return the table's columns as its log tells them; Spark is asked, slowly, where not."""
        from pyspark.sql.types import StructType

        if reported is not None:
            with suppress(ValueError, KeyError, TypeError, RecursionError, PySparkException):
                return StructType.fromJson(json.loads(reported))
        return self._session.read.format("delta").load(self._sink.path).schema


_DATA_FILE = re.compile(r"part-\d{5}-[0-9a-f-]{36}[-.].*")
_MOST_NAMED = 3


def contents_of_table(session: SparkSession, path: str | None) -> Contents:
    """Return whether a table has rows, as Spark reads it."""
    try:
        rows = session.read.format("delta").load(path)
        return Contents.EMPTY if rows.isEmpty() else Contents.ROWS
    except (Py4JError, PySparkException):
        # A table that can't be read must not pass for an empty one.
        return Contents.UNKNOWN


def strange_names(folder: Reader, sink: ReadySink, *, begun: bool) -> tuple[str, ...]:
    """Name what is not ours; data files without a log are, once a first batch broke off."""
    try:
        names = folder.names("")
    except NotFoundError:
        return ()
    strange = [name for name in names if not name.startswith(".")]
    if begun:
        strange = [name for name in strange if not _is_left_behind(name, sink)]
    return tuple(sorted(strange))[:_MOST_NAMED]


def _is_left_behind(name: str, sink: ReadySink) -> bool:
    folders = tuple(f"{column}=" for column in sink.partition_by)
    is_data = _DATA_FILE.fullmatch(name) is not None or name.startswith(folders)
    return is_data or name == LOG_FOLDER
