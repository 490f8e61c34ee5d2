"""The checksums beside a file: Hadoop's `.<name>.crc`, and Spark's `<state file>.crc`."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.errors import DecodeError
from holdfast.format.logs.log import decode_text
from holdfast.format.strictjson import INT32, Fields, encode_json

DEFAULT_BYTES_PER_SUM = 512

_MAGIC = b"crc\0"
_HEADER = struct.Struct(">4si")


@dataclass(frozen=True)
class HadoopChecksum:
    """One CRC-32 for every `bytes_per_sum` bytes; the last chunk may be shorter."""

    bytes_per_sum: int
    sums: tuple[int, ...]


def decode_hadoop_checksum(data: bytes) -> HadoopChecksum:
    """Decode the bytes of a Hadoop checksum file."""
    if len(data) < _HEADER.size:
        message = f"Hadoop checksum: {len(data)} bytes, shorter than its header"
        raise DecodeError("HF2112", message, byte=len(data))
    magic, bytes_per_sum = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        message = f"Hadoop checksum: it begins with {magic!r}, not {_MAGIC!r}"
        raise DecodeError("HF2112", message, byte=0)
    if bytes_per_sum <= 0:
        message = f"Hadoop checksum: invalid chunk size of {bytes_per_sum} bytes"
        raise DecodeError("HF2112", message, byte=4)
    count, left_over = divmod(len(data) - _HEADER.size, 4)
    if left_over:
        message = "Hadoop checksum: it ends in the middle of a sum"
        raise DecodeError("HF2112", message, byte=len(data) - left_over)
    return HadoopChecksum(bytes_per_sum, struct.unpack_from(f">{count}I", data, _HEADER.size))


def encode_hadoop_checksum(data: bytes, bytes_per_sum: int = DEFAULT_BYTES_PER_SUM) -> bytes:
    """Encode the checksum file that belongs beside these bytes."""
    view = memoryview(data)
    starts = range(0, len(view), bytes_per_sum)
    sums = [zlib.crc32(view[start : start + bytes_per_sum]) for start in starts]
    return _HEADER.pack(_MAGIC, bytes_per_sum) + struct.pack(f">{len(sums)}I", *sums)


def first_mismatch(checksum: HadoopChecksum, data: bytes) -> int | None:
    """Return the byte where the first chunk begins that does not fit its sum; None where all fit.

    Bytes beyond the last sum, and a sum beyond the last byte, are mismatches too.
    """
    view = memoryview(data)
    size = checksum.bytes_per_sum
    for index, expected in enumerate(checksum.sums):
        start = index * size
        if start >= len(view):
            return len(view)
        if zlib.crc32(view[start : start + size]) != expected:
            return start
    end = len(checksum.sums) * size
    return end if end < len(view) else None


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
            raise fields.error(
                "HF2113", f"no Spark release writes the algorithm {checksum.algorithm!r}"
            )
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


def matches_spark_checksum(checksum: SparkChecksum, data: bytes) -> bool:
    """Return whether these are the bytes that the checksum was made of."""
    # Few checkpoints have such files; whoever reads another does not wait for the library.
    import google_crc32c

    return len(data) == checksum.size and google_crc32c.value(data) == checksum.value % 2**32
