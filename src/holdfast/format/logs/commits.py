"""`commits/<batch>`: that a batch is done, with what the next one needs; v1, v2 and v3."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.errors import DecodeError
from holdfast.format.logs.log import decode_text, decode_version, split_lines
from holdfast.format.strictjson import Fields, encode_json

COMMIT_VERSIONS: Mapping[int, str] = {
    1: "every Spark",
    2: "Spark 4.0 and later",
    3: "Spark 4.2 and later",
}

_WHAT = "commit entry"
_OPERATOR = re.compile(r"0|[1-9][0-9]{0,17}")

StateIds = Mapping[int, tuple[tuple[str, ...], ...]]


@dataclass(frozen=True)
class SinkCommit:
    """What a v3 commit says of one named sink."""

    sink_name: str
    commit_offset: str
    provider_name: str
    api_version: str
    is_active: bool = True
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class CommitEntry:
    """One batch as it was finished."""

    version: int
    next_watermark_ms: int = 0
    state_ids: StateIds | None = None
    """Operator to partitions to the id of each store's file (state checkpoint format 2)."""
    sinks: Mapping[str, SinkCommit] | None = None
    """v3 only."""
    extra: Mapping[str, object] = field(default_factory=dict)
    watermark_recorded: bool = True
    """False for the `{}` of Spark 2.3 and before: the watermark is then Spark's default, 0."""


def decode_commit(data: bytes) -> CommitEntry:
    """Decode the bytes of a commit."""
    lines = split_lines(decode_text(data, _WHAT))
    # Spark trims this one version line, though it writes nothing to trim.
    version = decode_version(lines[0].strip(" \t"), known=COMMIT_VERSIONS, what=_WHAT)
    byte = len(lines[0]) + 1
    if len(lines) > 2:
        message = f"{_WHAT}: unexpected data after the second line, where Spark stops reading"
        place = byte + len(lines[1].encode("utf-8")) + 1
        raise DecodeError("HF2110", message, line=3, byte=place, overlooked=True)
    fields = Fields.of(lines[1] if len(lines) > 1 else "{}", what=_WHAT, line=2, byte=byte)
    return CommitEntry(
        version,
        watermark_recorded="nextBatchWatermarkMs" in fields.left,
        next_watermark_ms=fields.take_integer("nextBatchWatermarkMs", default=0),
        state_ids=_state_ids(fields) if "stateUniqueIds" in fields.left else None,
        sinks=_sinks(fields) if version == 3 else None,
        extra=fields.rest(),
    )


def encode_commit(entry: CommitEntry) -> bytes:
    """Encode the bytes of a commit."""
    fields: dict[str, object] = {}
    if entry.watermark_recorded:
        fields["nextBatchWatermarkMs"] = entry.next_watermark_ms
    if entry.state_ids is not None:
        fields["stateUniqueIds"] = entry.state_ids
    if entry.sinks is not None:
        fields["sinkMetadataMap"] = {name: _sink_fields(s) for name, s in entry.sinks.items()}
    return f"v{entry.version}\n{encode_json({**fields, **entry.extra})}".encode()


def _state_ids(fields: Fields) -> StateIds:
    found: dict[int, tuple[tuple[str, ...], ...]] = {}
    for operator, partitions in fields.take_object("stateUniqueIds").items():
        if not _OPERATOR.fullmatch(operator):
            raise fields.error(
                "HF2106", f"stateUniqueIds has {operator!r}, which is not an operator id"
            )
        found[int(operator)] = _partitions(fields, f"stateUniqueIds.{operator}", partitions)
    return found


def _partitions(fields: Fields, name: str, value: object) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list):
        raise fields.wrong(name, "a list", value)
    return tuple(_store_ids(fields, name, stores) for stores in value)


def _store_ids(fields: Fields, name: str, value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise fields.wrong(f"a partition in {name}", "a list", value)
    for store_id in value:
        if not isinstance(store_id, str):
            raise fields.wrong(f"an id in {name}", "a string", store_id)
    return tuple(value)


def _sinks(fields: Fields) -> Mapping[str, SinkCommit]:
    sinks = {
        name: _sink(fields.inner(f"sinkMetadataMap.{name}", value))
        for name, value in fields.take_object("sinkMetadataMap").items()
    }
    active = sum(sink.is_active for sink in sinks.values())
    if active != 1:
        raise fields.error("HF2106", f"v3 requires exactly one active sink, not {active}")
    return sinks


def _sink(fields: Fields) -> SinkCommit:
    return SinkCommit(
        sink_name=fields.take_text("sinkName"),
        commit_offset=fields.take_text("commitOffset"),
        provider_name=fields.take_text("providerName"),
        api_version=fields.take_text("apiVersion"),
        is_active=fields.take_flag("isActive", default=True),
        extra=fields.rest(),
    )


def _sink_fields(sink: SinkCommit) -> dict[str, object]:
    return {
        "sinkName": sink.sink_name,
        "commitOffset": sink.commit_offset,
        "providerName": sink.provider_name,
        "apiVersion": sink.api_version,
        "isActive": sink.is_active,
        **sink.extra,
    }
