"""Options of sources and sinks: misspelled ones, which Spark ignores, and Kafka topics.

An option that is like no known one is left alone: a connector may have options of its own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from holdfast.wording import CLOSE, nearest

_FILES = (
    "path basePath checkpointLocation cleanSource compression discardCachedInputRatio fileNameOnly "
    "ignoreCorruptFiles ignoreInvalidPartitionPaths ignoreMissingFiles latestFirst "
    "maxBytesPerTrigger maxCachedFiles maxFileAge maxFilesPerTrigger maxRecordsPerFile "
    "modifiedAfter modifiedBefore pathGlobFilter recursiveFileLookup retention sourceArchiveDir "
    "partitionOverwriteMode"
)
_TEXTS = (
    "charset columnNameOfCorruptRecord dateFormat enableDateTimeParsingFallback encoding lineSep "
    "locale mode multiLine samplingRatio singleVariantColumn timeFormat timeZone timestampFormat "
    "timestampNTZFormat"
)
_OPTIONS = {
    "json": f"{_FILES} {_TEXTS} allowBackslashEscapingAnyCharacter allowComments "
    "allowNonNumericNumbers allowNumericLeadingZeros allowSingleQuotes allowUnquotedControlChars "
    "allowUnquotedFieldNames dropFieldIfAllNull ignoreNullFields inferTimestamp prefersDecimal "
    "pretty primitivesAsString sortKeys useUnsafeRow writeNonAsciiCharacterAsCodePoint",
    "csv": f"{_FILES} {_TEXTS} charToEscapeQuoteEscaping codec columnPruning comment delimiter "
    "emptyValue enforceSchema escape escapeQuotes extension header ignoreLeadingWhiteSpace "
    "ignoreTrailingWhiteSpace inferSchema inputBufferSize maxCharsPerColumn maxColumns nanValue "
    "negativeInf nullValue positiveInf preferDate quote quoteAll sep unescapedQuoteHandling",
    "parquet": f"{_FILES} datetimeRebaseMode int96RebaseMode mergeSchema parquet.compression",
    "orc": f"{_FILES} mergeSchema orc.compress",
    "text": f"{_FILES} encoding lineSep wholetext",
    "delta": "path allowSourceColumnDrop allowSourceColumnRename allowSourceColumnTypeChange "
    "checkpointLocation compression dataChange endingTimestamp endingVersion excludeRegex "
    "failOnDataLoss ignoreChanges ignoreDeletes ignoreFileDeletion maxBytesPerTrigger "
    "maxFilesPerTrigger maxRecordsPerFile mergeSchema optimizeWrite overwriteSchema "
    "parquet.writer.version partitionOverwriteMode queryName readChangeData readChangeFeed "
    "replaceOn replaceUsing replaceWhere schemaLocation schemaTrackingLocation skipChangeCommits "
    "startingTimestamp startingVersion streamingSourceTrackingId targetAlias timestampAsOf "
    "txnAppId txnVersion useNullIntolerantEqualityWithDPO userMetadata versionAsOf "
    "withEventTimeOrder writePartitionColumns",
    "kafka": "assign subscribe subscribePattern endingOffsets endingOffsetsByTimestamp "
    "endingTimestamp failOnDataLoss fetchOffset.numRetries fetchOffset.retryIntervalMs "
    "groupIdPrefix includeHeaders kafkaConsumer.pollTimeoutMs maxOffsetsPerTrigger "
    "maxRecordsPerPartition maxTriggerDelay minOffsetsPerTrigger minPartitions startingOffsets "
    "startingOffsetsByTimestamp startingOffsetsByTimestampStrategy startingTimestamp topic "
    "checkpointLocation",
    "rate": "numPartitions rampUpTime rowsPerSecond",
    "rate-micro-batch": "advanceMillisPerBatch numPartitions rowsPerBatch startTimestamp",
}
_PASSED_ON = ("kafka.", "parquet.", "orc.", "fs.", "delta.")
"""How options begin that Spark passes on to somebody who knows more of them."""


@dataclass(frozen=True)
class Misspelled:
    """An option that is not known, and the known one that it is like."""

    place: str
    """Where it stands: `source`, `sources.NAME` or `sink`."""
    format: str
    option: str
    meant: str


def known_options(name: str) -> tuple[str, ...]:
    """Return the options of a format; empty where they are not known here."""
    return tuple(_OPTIONS.get(name.lower(), "").split())


def misspelled_options(
    places: Iterable[tuple[str, str, Mapping[str, str]]],
) -> Iterator[Misspelled]:
    """Yield the options that look misspelled, of places with their format and their options."""
    for place, form, options in places:
        known = known_options(form)
        spelled = {one.lower() for one in known}
        for option in options:
            if option.lower() in spelled or option.lower().startswith(_PASSED_ON):
                continue
            meant = nearest(option, known, CLOSE)
            if meant is not None:
                yield Misspelled(place, form, option, meant)


_SERVERS = "kafka.bootstrap.servers"


@dataclass(frozen=True)
class Topics:
    """Topics of one cluster, by name or by a pattern."""

    servers: frozenset[str]
    names: frozenset[str] = frozenset()
    pattern: str | None = None

    def meet(self, other: Topics) -> bool:
        """Whether a topic is in both: a server that both name makes the clusters one."""
        if not self.servers & other.servers:
            return False
        return bool(self.names & other.names or self._fits(other) or other._fits(self))

    def _fits(self, other: Topics) -> bool:
        if self.pattern is None:
            return False
        try:
            return any(re.fullmatch(self.pattern, name) for name in other.names)
        except re.error:
            # Kafka's patterns are Java's; one that Python does not know is left to Spark.
            return False


def topics_of(options: Mapping[str, str]) -> Topics:
    """Return the topics that the options of a Kafka source or sink name."""
    given = {key.lower(): value for key, value in options.items()}
    servers = frozenset(
        one.strip().lower() for one in given.get(_SERVERS, "").split(",") if one.strip()
    )
    return Topics(servers, frozenset(_names(given)), given.get("subscribepattern"))


def _names(given: Mapping[str, str]) -> Iterator[str]:
    for key in ("subscribe", "topic"):
        yield from (one.strip() for one in given.get(key, "").split(",") if one.strip())
    try:
        assigned = json.loads(given.get("assign", "{}"))
    except (ValueError, RecursionError):
        return
    if isinstance(assigned, dict):
        yield from map(str, assigned)


_STARTING = frozenset(
    {
        "startingoffsets",
        "startingoffsetsbytimestamp",
        "startingposition",
        "startingtimestamp",
        "startingversion",
        "stream-from-timestamp",
    }
)


def starting_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options that only a query without a checkpoint reads, in small letters."""
    lowered = {key.lower(): value for key, value in options.items()}
    return {key: value for key, value in sorted(lowered.items()) if key in _STARTING}
