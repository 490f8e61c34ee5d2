"""`offsets/<batch>`: what a batch will read (v1, v2); `sources/<i>/0`: where a source began."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from holdfast.errors import DecodeError
from holdfast.format.logs.log import decode_text, decode_version, located_lines, split_lines
from holdfast.format.strictjson import Fields, decode_json, decode_object, encode_json

OFFSETS_VERSIONS: Mapping[int, str] = {1: "every Spark", 2: "Spark 4.2 and later"}

_WHAT = "offsets entry"
_NO_OFFSET = "-"


@dataclass(frozen=True)
class SourceOffset:
    """Where one source ends in this batch: the source's own JSON, None where it had none yet."""

    name: str
    """The source's index as text in v1, its id in v2."""
    text: str | None


@dataclass(frozen=True)
class OffsetsMetadata:
    """The clocks of a batch and the settings that Spark pins with it."""

    watermark_ms: int
    timestamp_ms: int
    settings: Mapping[str, str]
    """Empty where the entry has none (Spark 2.1)."""
    source_metadata: Mapping[str, object] | None = None
    """v2 only."""
    control: object | None = None
    """v2 only: what kind of control batch this is; None for a batch of data."""
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class OffsetsEntry:
    """One batch as it was planned."""

    version: int
    metadata: OffsetsMetadata | None
    """None in very old logs and in continuous processing."""
    sources: tuple[SourceOffset, ...]
    final_newline: bool = False
    """Whether the file ends with a line feed, as previews of Spark 4.0 wrote it."""


def decode_offsets(data: bytes) -> OffsetsEntry:
    """Decode the bytes of an offsets entry."""
    text = decode_text(data, _WHAT)
    lines = split_lines(text)
    version = decode_version(lines[0], known=OFFSETS_VERSIONS, what=_WHAT)
    if len(lines) < 2:
        message = f"{_WHAT}: it ends after the version line"
        raise DecodeError("HF2106", message, line=2, byte=len(data))
    metadata = _metadata(version, lines[1], len(lines[0]) + 1)
    decode_source = _indexed_source if version == 1 else _named_source
    sources = tuple(decode_source(*place) for place in located_lines(lines, 2))
    if version != 1:
        _refuse_twins(sources)
    return OffsetsEntry(version, metadata, sources, text.endswith("\n"))


def encode_offsets(entry: OffsetsEntry) -> bytes:
    """Encode the bytes of an offsets entry."""
    lines = [f"v{entry.version}", _metadata_line(entry)]
    for source in entry.sources:
        text = _NO_OFFSET if source.text is None else source.text
        lines.append(text if entry.version == 1 else f"{source.name}:{text}")
    return ("\n".join(lines) + ("\n" if entry.final_newline else "")).encode("utf-8")


def _metadata(version: int, line: str, byte: int) -> OffsetsMetadata | None:
    if not line.strip(" \t"):
        if version == 1:
            return None
        message = f"{_WHAT}: v{version} requires metadata on its second line"
        raise DecodeError("HF2106", message, line=2, byte=byte)
    fields = Fields.of(line, what=f"{_WHAT}, metadata", line=2, byte=byte)
    source_metadata, control = None, None
    if version != 1 and "sourceMetadataInfo" in fields.left:
        source_metadata = fields.take_object("sourceMetadataInfo")
    if version != 1 and "controlBatchInfo" in fields.left:
        control = fields.take_object("controlBatchInfo")
    return OffsetsMetadata(
        # Spark's own class has these defaults: an entry without a field is read, not refused.
        watermark_ms=fields.take_integer("batchWatermarkMs", default=0),
        timestamp_ms=fields.take_integer("batchTimestampMs", default=0),
        settings=fields.take_texts("conf") if "conf" in fields.left else {},
        source_metadata=source_metadata,
        control=control,
        extra=fields.rest(),
    )


def _indexed_source(line: int, byte: int, text: str) -> SourceOffset:
    # The version and the metadata stand before the first source.
    return SourceOffset(str(line - 3), _offset(text, line, byte))


def _named_source(line: int, byte: int, text: str) -> SourceOffset:
    name, colon, offset = text.partition(":")
    if not colon:
        message = f"{_WHAT}: a line of v2 must be a source id, a colon and an offset"
        raise DecodeError("HF2105", message, line=line, byte=byte)
    return SourceOffset(name, _offset(offset, line, byte + len(name.encode("utf-8")) + 1))


def _offset(text: str, line: int, byte: int) -> str | None:
    if text == _NO_OFFSET:
        return None
    if decode_json(text, what=f"{_WHAT}, a source's offset", line=line, byte=byte) is None:
        message = (
            f"{_WHAT}: the offset of a source is null; a source without an offset is written as `-`"
        )
        raise DecodeError("HF2106", message, line=line, byte=byte)
    return text


def _refuse_twins(sources: tuple[SourceOffset, ...]) -> None:
    names: set[str] = set()
    for index, source in enumerate(sources):
        if source.name in names:
            message = f"{_WHAT}: the source {source.name!r} has two lines"
            raise DecodeError("HF2110", message, line=index + 3)
        names.add(source.name)


def _metadata_line(entry: OffsetsEntry) -> str:
    metadata = entry.metadata
    if metadata is None:
        return ""
    fields: dict[str, object] = {
        "batchWatermarkMs": metadata.watermark_ms,
        "batchTimestampMs": metadata.timestamp_ms,
    }
    if metadata.settings:
        fields["conf"] = metadata.settings
    if metadata.source_metadata is not None:
        fields["sourceMetadataInfo"] = metadata.source_metadata
    if metadata.control is not None:
        fields["controlBatchInfo"] = metadata.control
    return encode_json({**fields, **metadata.extra})


_INITIAL = "initial offset"
_INITIAL_VERSIONS = {1: "every Spark"}
_MILLISECONDS = re.compile(r"-?[0-9]{1,19}")


@dataclass(frozen=True)
class InitialOffset:
    """Where a source began, in its own words."""

    kind: Literal["kafka", "rate", "unknown"]
    text: str
    """Kafka: JSON of the offsets; rate: milliseconds; unknown: the whole file."""


def decode_initial(data: bytes) -> InitialOffset:
    """Decode the bytes of a source's file `0`; a form that is neither is kept as unknown."""
    if data.startswith(b"\0"):
        return InitialOffset("kafka", _kafka(data[1:]))
    text = decode_text(data, _INITIAL)
    version, _, rest = text.partition("\n")
    is_rate = version == "v1" and _MILLISECONDS.fullmatch(rest)
    return InitialOffset("rate", rest) if is_rate else InitialOffset("unknown", text)


def _kafka(data: bytes) -> str:
    # The zero byte before it was taken off: it is there for Spark 2.1.0, which skips one byte.
    try:
        text = decode_text(data, _INITIAL)
        version, newline, rest = text.partition("\n")
        if not version.startswith("v"):
            # Spark 2.1.0 wrote no version line.
            decode_object(text, what=_INITIAL, line=1)
            return text
        decode_version(version, known=_INITIAL_VERSIONS, what=_INITIAL)
        if not newline:
            raise DecodeError("HF2106", f"{_INITIAL}: it ends after the version line", line=2)
        decode_object(rest, what=_INITIAL, line=2, byte=len(version) + 1)
    except DecodeError as error:
        byte = None if error.byte is None else error.byte + 1
        raise DecodeError(
            error.code.number,
            error.message,
            line=error.line,
            byte=byte,
            overlooked=error.overlooked,
        ) from error
    return rest
