"""`<state file>.crc`: the checksum that Spark 4.1 and later keep of a whole state file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.errors import DecodeError
from holdfast.format.fields import INT32, Fields
from holdfast.format.logs.log import decode_text
from holdfast.format.strictjson import encode_json

_ALGORITHM = "CRC32C"


@dataclass(frozen=True)
class SparkChecksum:
    """The checksum of one state file, and who wrote it."""

    algorithm: str
    value: int
    """CRC-32C as Java holds it: a signed 32-bit integer."""
    size: int
    timestamp_ms: int
    creator: Mapping[str, object]
    extra: Mapping[str, object] = field(default_factory=dict)


def decode_spark_checksum(data: bytes) -> SparkChecksum:
    """Decode the bytes of a Spark checksum file."""
    what = "Spark checksum"
    try:
        fields = Fields.of(decode_text(data, what), what=what, line=1)
        checksum = SparkChecksum(
            algorithm=fields.take_text("algorithm"),
            value=fields.take_integer("value", bounds=INT32),
            size=fields.take_integer("mainFileSize"),
            timestamp_ms=fields.take_integer("timestampMs"),
            creator=fields.take_object("creator"),
            extra=fields.rest(),
        )
        if checksum.algorithm != _ALGORITHM:
            raise fields.error("HF2113", f"no Spark writes the algorithm {checksum.algorithm!r}")
    except DecodeError as error:
        raise DecodeError(
            "HF2113",
            error.message,
            line=error.line,
            byte=error.byte,
            overlooked=error.overlooked,
        ) from error
    return checksum


def encode_spark_checksum(checksum: SparkChecksum) -> bytes:
    """Encode the bytes of a Spark checksum file."""
    fields = {
        "algorithm": checksum.algorithm,
        "value": checksum.value,
        "mainFileSize": checksum.size,
        "timestampMs": checksum.timestamp_ms,
        "creator": checksum.creator,
    }
    return encode_json({**fields, **checksum.extra}).encode("utf-8")


def matches(checksum: SparkChecksum, data: bytes) -> bool:
    """Tell whether these are the bytes that the checksum was made of."""
    # Few checkpoints have such files; whoever reads another does not wait for the library.
    import google_crc32c

    return len(data) == checksum.size and google_crc32c.value(data) == checksum.value % 2**32
