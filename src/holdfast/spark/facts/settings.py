"""The settings of a session that Spark pins in a checkpoint, or that change what a query means."""

from __future__ import annotations

from typing import Any

from holdfast.spark.facts.plan.reading import REFUSALS, pairs_of
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
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.session.collation.default",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.execution.pythonUDF.arrow.enabled",
    f"{_STREAMING}.sessionWindow.stateFormatVersion",
    f"{_STREAMING}.sessionWindow.merge.sessions.in.local.partition",
    f"{_STREAMING}.stateStore.checkpointFormatVersion",
    f"{_STREAMING}.stateStore.rocksdb.changelogCheckpointing.enabled",
    f"{_STREAMING}.offsetLog.formatVersion",
)
"""What Spark does not pin, and what changes results or files."""
_LATE = frozenset(
    (
        f"{_STREAMING}.stateStore.rocksdb.mergeOperatorVersion",
        f"{_STREAMING}.stateStore.rowChecksum.enabled",
        "spark.sql.function.protobufExtensions.enabled",
        f"{_STREAMING}.queryEvolution.enableSourceEvolution",
        f"{_STREAMING}.statefulOperator.alwaysNullableOutput.enabled",
        "spark.sql.dropDuplicates.deterministicKeyOrder.enabled",
        "spark.sql.session.collation.default",
        f"{_STREAMING}.offsetLog.formatVersion",
    )
)
"""What not every release has: asked in a way that raises nothing, which takes tens of
milliseconds."""
_LEGACY = "spark.sql.legacy."


def settings_of(session: Any) -> dict[str, str]:
    """Return those of the settings that this Spark knows, and legacy ones that are set."""
    configuration = session.conf()
    found = {name: _value(configuration, name) for name in (*PINNED, *MEANING)}
    given = pairs_of(session.sessionState().conf().getAllConfs())
    found |= {name: value for name, value in given.items() if name.startswith(_LEGACY)}
    return {
        name: option_value(name, value)
        for name, value in sorted(found.items())
        if value is not None
    }


def _value(configuration: Any, name: str) -> str | None:
    if name in _LATE:
        shown: str = configuration.getOption(name).toString()
        return None if shown == "None" else shown.removeprefix("Some(").removesuffix(")")
    try:
        value: str | None = configuration.get(name)
    except REFUSALS:
        # This release has no such setting.
        return None
    return value
