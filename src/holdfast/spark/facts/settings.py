"""The settings of a session that Spark pins in a checkpoint, or that change what a query means."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from holdfast.spark.facts.plan.planning import java_class
from holdfast.spark.facts.plan.reading import pairs_of
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
    "spark.sql.jsonGenerator.ignoreNullFields",
    "spark.sql.json.enablePartialResults",
    "spark.sql.icu.caseMappings.enabled",
    f"{_STREAMING}.sessionWindow.stateFormatVersion",
    f"{_STREAMING}.sessionWindow.merge.sessions.in.local.partition",
    f"{_STREAMING}.stateStore.checkpointFormatVersion",
    f"{_STREAMING}.stateStore.rocksdb.changelogCheckpointing.enabled",
    f"{_STREAMING}.offsetLog.formatVersion",
)
"""What Spark does not pin, and what changes results or files."""
_LEGACY = "spark.sql.legacy."
_ENTRIES = "org.apache.spark.sql.internal.SQLConf$"
_ENTRY = re.compile(r"ConfigEntry\(key=([^,]+), defaultValue=(.*?), doc=", re.DOTALL)
_NO_TEXT = "<"
"""How a default begins that is no value: `<undefined>`, or `<value of another setting>`."""


def settings_of(machine: Any, session: Any) -> dict[str, str]:
    """Return those of the settings that this Spark knows, and legacy ones that are set.

    All that is set is one question to the JVM, and all defaults are another, asked once.
    """
    given = pairs_of(session.sessionState().conf().getAllConfs())
    found = {name: value for name, value in given.items() if name.startswith(_LEGACY)}
    defaults = _defaults(machine)
    for name in (*PINNED, *MEANING):
        value = given.get(name, defaults.get(name))
        if value is not None and value.startswith(_NO_TEXT):
            value = _asked(session, name)
        if value is not None:
            found[name] = value
    return {name: option_value(name, value) for name, value in sorted(found.items())}


@lru_cache(maxsize=4)
def _defaults(machine: Any) -> Mapping[str, str]:
    """Return the default of each setting that this Spark knows."""
    entries = getattr(java_class(machine, _ENTRIES), "MODULE$").getConfigEntries()
    return dict(_ENTRY.findall(entries.toString()))


def _asked(session: Any, name: str) -> str | None:
    """Return the value of a setting whose default is that of another; None where it has none."""
    shown: str = session.conf().getOption(name).toString()
    return None if shown == "None" else shown.removeprefix("Some(").removesuffix(")")
