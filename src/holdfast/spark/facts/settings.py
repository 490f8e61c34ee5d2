"""The settings of a session that Spark pins in a checkpoint, or that change what a query means."""

from __future__ import annotations

from typing import Any

from holdfast.spark.facts.reading import REFUSALS
from holdfast.spark.facts.texts import option_value

_STREAMING = "spark.sql.streaming"
PINNED = (
    "spark.sql.shuffle.partitions",
    f"{_STREAMING}.stateStore.providerClass",
    f"{_STREAMING}.multipleWatermarkPolicy",
    f"{_STREAMING}.flatMapGroupsWithState.stateFormatVersion",
    f"{_STREAMING}.aggregation.stateFormatVersion",
    f"{_STREAMING}.join.stateFormatVersion",
    f"{_STREAMING}.stateStore.compression.codec",
    f"{_STREAMING}.stateStore.rocksdb.formatVersion",
    f"{_STREAMING}.statefulOperator.useStrictDistribution",
    "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan",
    f"{_STREAMING}.stateStore.encodingFormat",
    f"{_STREAMING}.stateStore.rocksdb.mergeOperatorVersion",
    f"{_STREAMING}.stateStore.rowChecksum.enabled",
    "spark.sql.function.protobufExtensions.enabled",
    f"{_STREAMING}.queryEvolution.enableSourceEvolution",
    f"{_STREAMING}.statefulOperator.alwaysNullableOutput.enabled",
    "spark.sql.dropDuplicates.deterministicKeyOrder.enabled",
)
"""What Spark writes into every entry of offsets; which of them, differs between releases."""
MEANING = (
    "spark.sql.session.timeZone",
    "spark.sql.ansi.enabled",
    "spark.sql.caseSensitive",
    "spark.sql.timestampType",
    "spark.sql.storeAssignmentPolicy",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.session.collation.default",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.legacy.sizeOfNull",
    "spark.sql.legacy.allowHashOnMapType",
    "spark.sql.legacy.statisticalAggregate",
    "spark.sql.legacy.castComplexTypesToString.enabled",
    "spark.sql.legacy.negativeIndexInArrayInsert",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.legacy.doLooseUpcast",
    "spark.sql.execution.pythonUDF.arrow.enabled",
    f"{_STREAMING}.sessionWindow.stateFormatVersion",
    f"{_STREAMING}.sessionWindow.merge.sessions.in.local.partition",
    f"{_STREAMING}.checkpointFormatVersion",
    f"{_STREAMING}.stateStore.checkpointFormatVersion",
    f"{_STREAMING}.stateStore.rocksdb.changelogCheckpointing.enabled",
    f"{_STREAMING}.statefulOperator.checkCorrectness.enabled",
    f"{_STREAMING}.offsetLog.formatVersion",
)
"""What Spark does not pin, and what changes results or files."""


def settings_of(session: Any) -> dict[str, str]:
    """Return those of the settings that this Spark knows; of a Java session."""
    configuration = session.conf()
    found = {}
    for name in (*PINNED, *MEANING):
        try:
            value = configuration.get(name)
        except REFUSALS:
            # This release has no such setting.
            continue
        if value is not None:
            found[name] = option_value(name, str(value))
    return found
