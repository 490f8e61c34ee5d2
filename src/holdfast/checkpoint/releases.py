"""The Spark releases whose checkpoints are read, and what each pins in an offsets entry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

RELEASES: tuple[str, ...] = ("3.5", "4.0", "4.1", "4.2", "4.3")
"""In order of appearance; text that compares only through `at_least`."""


def at_least(release: str, other: str) -> bool:
    """Tell whether a release is the other one or came later."""
    return RELEASES.index(release) >= RELEASES.index(other)


@dataclass(frozen=True)
class PinnedSetting:
    """A setting that Spark writes into every offsets entry and takes back from the newest one."""

    key: str
    since: str
    default: str | None
    """The value of a new query, None where it follows the session."""
    when_absent: str | None
    """What Spark assumes where an entry lacks the key, None for the session's value."""


_PREFIX = "spark.sql.streaming."
_STORE = f"{_PREFIX}stateStore."
_HDFS = "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider"

PINNED_SETTINGS: tuple[PinnedSetting, ...] = (
    PinnedSetting("spark.sql.shuffle.partitions", "3.5", "200", None),
    PinnedSetting(f"{_STORE}providerClass", "3.5", _HDFS, None),
    PinnedSetting(f"{_PREFIX}multipleWatermarkPolicy", "3.5", "min", "min"),
    PinnedSetting(f"{_PREFIX}flatMapGroupsWithState.stateFormatVersion", "3.5", "2", "1"),
    PinnedSetting(f"{_PREFIX}aggregation.stateFormatVersion", "3.5", "2", "1"),
    PinnedSetting(f"{_PREFIX}join.stateFormatVersion", "3.5", "2", "1"),
    PinnedSetting(f"{_STORE}compression.codec", "3.5", "lz4", "lz4"),
    PinnedSetting(f"{_STORE}rocksdb.formatVersion", "3.5", "5", None),
    PinnedSetting(f"{_PREFIX}statefulOperator.useStrictDistribution", "3.5", "true", "false"),
    PinnedSetting(
        "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan", "3.5", "false", "true"
    ),
    PinnedSetting(f"{_STORE}encodingFormat", "4.0", "unsaferow", "unsaferow"),
    PinnedSetting(f"{_STORE}rocksdb.mergeOperatorVersion", "4.2", "2", "1"),
    PinnedSetting(f"{_STORE}rowChecksum.enabled", "4.2", "false", "false"),
    PinnedSetting("spark.sql.function.protobufExtensions.enabled", "4.2", "false", "false"),
    PinnedSetting(f"{_PREFIX}queryEvolution.enableSourceEvolution", "4.2", "false", "false"),
    PinnedSetting(
        f"{_PREFIX}statefulOperator.alwaysNullableOutput.enabled", "4.3", "true", "false"
    ),
    PinnedSetting("spark.sql.dropDuplicates.deterministicKeyOrder.enabled", "4.3", "true", "false"),
)

PARTITIONS = "spark.sql.shuffle.partitions"
PROVIDER = f"{_STORE}providerClass"
CODEC = f"{_STORE}compression.codec"
SOURCE_EVOLUTION = f"{_PREFIX}queryEvolution.enableSourceEvolution"


def unusual_settings(settings: Mapping[str, str]) -> dict[str, str]:
    """Keep the pinned settings that differ from what a new query would get."""
    defaults = {setting.key: setting.default for setting in PINNED_SETTINGS}
    return {key: value for key, value in settings.items() if defaults.get(key) != value}


KNOWN_OPERATORS = frozenset(
    {
        "stateStoreSave",
        "StatefulStreamlineAggregate",
        "dedupe",
        "dedupeWithinWatermark",
        "sessionWindowStateStoreSaveExec",
        "globalLimit",
        "symmetricHashJoin",
        "flatMapGroupsWithState",
        "applyInPandasWithState",
        "transformWithStateExec",
        "transformWithStateInPandasExec",
        "transformWithStateInPySparkExec",
    }
)
"""Names of stateful operators that Spark up to 4.3 records."""
