"""The Spark releases that are known, what each pins, and which of them wrote a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.checkpoint.picture import Picture
from holdfast.wording import counted

RELEASES: tuple[str, ...] = ("3.5", "4.0", "4.1", "4.2", "4.3")
"""In order of appearance; text that compares only through `at_least`."""


def at_least(release: str, other: str) -> bool:
    """Return whether a release is the other one or came later."""
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


@dataclass(frozen=True)
class SparkVersion:
    """The range of releases that could have written the files."""

    value: str | None
    """The one release that fits, None where several do."""
    low: str | None
    high: str | None
    basis: str

    @property
    def assumed(self) -> str:
        """The release to reason with: the newest that fits, else the newest known."""
        return self.high if self.high in RELEASES else RELEASES[-1]

    @property
    def oldest(self) -> str:
        """The oldest release that fits, else the oldest known: what holds for it holds for all."""
        return self.low if self.low in RELEASES else RELEASES[0]


def spark_version(picture: Picture) -> SparkVersion:
    """Bound the release by the settings that each one pins, log versions and side files."""
    low, high, reasons = 0, len(RELEASES) - 1, []
    settings = _newest_readable_settings(picture)
    if settings:
        low, high = _bounds_by_settings(set(settings))
        reasons.append(f"{counted(len(settings), 'pinned setting')}")
        if high < 0:
            return SparkVersion(None, None, "3.4", reasons[0])
    for release, reason in _signs(picture):
        if RELEASES.index(release) > low:
            low = RELEASES.index(release)
            reasons.append(reason)
    if _has_format_one_checksums(picture) and low <= RELEASES.index("4.1") <= high:
        low = high = RELEASES.index("4.1")
        reasons.append("checksum files beside state of checkpoint format 1")
    high = max(low, high)
    if not reasons:
        return SparkVersion(None, RELEASES[0], RELEASES[-1], "nothing in the files tells")
    value = RELEASES[low] if low == high else None
    return SparkVersion(value, RELEASES[low], RELEASES[high], "inferred from " + ", ".join(reasons))


def start_releases(picture: Picture) -> tuple[str, ...]:
    """Return the releases that the next start is judged with: the asked one, else all that fit."""
    if picture.starting_spark is not None:
        return (picture.starting_spark,)
    found = spark_version(picture)
    return RELEASES[RELEASES.index(found.oldest) : RELEASES.index(found.assumed) + 1]


def _newest_readable_settings(picture: Picture) -> Mapping[str, str]:
    """A damaged newest entry leaves the one before it to tell."""
    for batch_id in sorted(picture.offsets, reverse=True):
        metadata = picture.offsets[batch_id].metadata
        if metadata is not None and metadata.settings:
            return metadata.settings
    return {}


def _bounds_by_settings(keys: set[str]) -> tuple[int, int]:
    """Every release writes all of its keys into every entry, so a missing key bounds from above."""
    low, high = 0, len(RELEASES) - 1
    for setting in PINNED_SETTINGS:
        since = RELEASES.index(setting.since)
        if setting.key in keys:
            low = max(low, since)
        else:
            high = min(high, since - 1)
    return low, high if high < 0 else max(low, high)


def _signs(picture: Picture) -> list[tuple[str, str]]:
    signs: list[tuple[str, str]] = []
    entry, commit = picture.newest_offsets, picture.newest_commit
    if entry is not None and entry.version == 2:
        signs.append(("4.2", "offsets log v2"))
    if commit is not None and commit.version == 3:
        signs.append(("4.2", "commit log v3"))
    if commit is not None and commit.version == 2:
        signs.append(("4.0", "commit log v2"))
    return signs


def _has_format_one_checksums(picture: Picture) -> bool:
    """Only 4.1 writes its own checksum files beside state files that bear no unique id."""
    for operator in picture.layout.state.operators.values():
        for store in operator.stores.values():
            for files in store.partitions.values():
                newest = max(files.deltas, default=None)
                if newest is not None:
                    return f"{files.deltas[newest].path}.crc" in picture.layout.items
    return False
