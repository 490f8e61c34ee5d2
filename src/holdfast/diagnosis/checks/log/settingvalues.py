"""Pinned settings hold values that Spark can use."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.releases import CODEC, PARTITIONS
from holdfast.findings import Finding, Place, Severity
from holdfast.redaction import excerpt

_STREAMING = "spark.sql.streaming."
_FLAG = re.compile(r"true|false", re.IGNORECASE)
_SMALL = re.compile(r"[1-9][0-9]?")

_FORMS: dict[str, re.Pattern[str]] = {
    PARTITIONS: re.compile(r"[1-9][0-9]{0,8}"),
    CODEC: re.compile(r"lz4|lzf|snappy|zstd|[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)+"),
    f"{_STREAMING}multipleWatermarkPolicy": re.compile(r"min|max", re.IGNORECASE),
    f"{_STREAMING}flatMapGroupsWithState.stateFormatVersion": _SMALL,
    f"{_STREAMING}aggregation.stateFormatVersion": _SMALL,
    f"{_STREAMING}join.stateFormatVersion": _SMALL,
    f"{_STREAMING}stateStore.rocksdb.formatVersion": re.compile(r"[0-9]{1,2}"),
    f"{_STREAMING}stateStore.rocksdb.mergeOperatorVersion": _SMALL,
    f"{_STREAMING}stateStore.encodingFormat": re.compile(r"unsaferow|avro", re.IGNORECASE),
    f"{_STREAMING}statefulOperator.useStrictDistribution": _FLAG,
    f"{_STREAMING}stateStore.rowChecksum.enabled": _FLAG,
    f"{_STREAMING}queryEvolution.enableSourceEvolution": _FLAG,
    f"{_STREAMING}statefulOperator.alwaysNullableOutput.enabled": _FLAG,
    "spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan": _FLAG,
    "spark.sql.function.protobufExtensions.enabled": _FLAG,
    "spark.sql.dropDuplicates.deterministicKeyOrder.enabled": _FLAG,
}


def check_setting_values(picture: Picture) -> Iterator[Finding]:
    """Report values of the newest entry that are not of their setting's form."""
    for key, value in picture.settings.items():
        form = _FORMS.get(key)
        if form is not None and not form.fullmatch(value.strip()):
            severity = Severity.FATAL if key == PARTITIONS else Severity.ERROR
            place = Place(f"offsets/{picture.newest_offsets_id}", line=2)
            evidence = {"setting": key, "value": value}
            message = f"{key} is pinned to {excerpt(value, 60)!r}"
            yield Finding("HF2242", severity, message, place, evidence)
