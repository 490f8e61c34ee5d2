"""Commits a batch to a Delta table, rows and identity in one version of the table.

The identity is the one of Spark's native sink, query id and batch id, so that jobs can join and
leave; a query whose batches were taken back has another application id. Delta itself skips a batch
whose identity the table holds when it commits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.delta.batches import user_metadata
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.keys import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, DataFrameWriter, SparkSession

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
    """Tell whether somebody else's commit came between; nothing of ours was committed then."""
    cause: Any = getattr(error, "java_exception", None) or getattr(error, "_origin", None)
    while cause is not None:
        if cause.getClass().getSimpleName() in _CONFLICTS:
            return True
        cause = cause.getCause()
    return False


def grows(sink: ReadySink) -> bool:
    """Tell whether the user lets the table's schema follow the rows."""
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
        merge.whenMatched().updateAll().whenNotMatched().insertAll().execute()


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
