"""`.<name>.crc`: the checksums that Hadoop keeps beside each file of a local file system."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass

from holdfast.errors import DecodeError

DEFAULT_BYTES_PER_SUM = 512

_MAGIC = b"crc\0"
_HEADER = struct.Struct(">4si")


@dataclass(frozen=True)
class HadoopChecksum:
    """One CRC-32 for every `bytes_per_sum` bytes; the last chunk may be shorter."""

    bytes_per_sum: int
    sums: tuple[int, ...]


def decode_checksum(data: bytes) -> HadoopChecksum:
    """Decode the bytes of a Hadoop checksum file."""
    if len(data) < _HEADER.size:
        message = f"Hadoop checksum: {len(data)} bytes are less than its header"
        raise DecodeError("HF2112", message, byte=len(data))
    magic, bytes_per_sum = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        message = f"Hadoop checksum: it begins with {magic!r}, not {_MAGIC!r}"
        raise DecodeError("HF2112", message, byte=0)
    if bytes_per_sum <= 0:
        message = f"Hadoop checksum: chunks of {bytes_per_sum} bytes can't be"
        raise DecodeError("HF2112", message, byte=4)
    count, left_over = divmod(len(data) - _HEADER.size, 4)
    if left_over:
        message = "Hadoop checksum: it ends within a sum"
        raise DecodeError("HF2112", message, byte=len(data) - left_over)
    return HadoopChecksum(bytes_per_sum, struct.unpack_from(f">{count}I", data, _HEADER.size))


def encode_checksum(data: bytes, bytes_per_sum: int = DEFAULT_BYTES_PER_SUM) -> bytes:
    """Encode the checksum file that belongs beside these bytes."""
    view = memoryview(data)
    starts = range(0, len(view), bytes_per_sum)
    sums = [zlib.crc32(view[start : start + bytes_per_sum]) for start in starts]
    return _HEADER.pack(_MAGIC, bytes_per_sum) + struct.pack(f">{len(sums)}I", *sums)


def first_mismatch(checksum: HadoopChecksum, data: bytes) -> int | None:
    """Give the byte where the first chunk begins that does not fit its sum; None where all fit.

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
