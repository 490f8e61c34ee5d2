"""Finds options of sources and sinks that are misspelled: Spark ignores what it does not know.

An option that is like no known one is left alone: a connector may have options of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from holdfast.nearest import CLOSE, nearest

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
