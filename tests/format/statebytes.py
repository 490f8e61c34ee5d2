"""Writes state files as Spark does, byte for byte, and reads them in the plainest way."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from functools import cache

import pyarrow as pa
import xxhash

from holdfast.format.buffers import DELETE, PUT, Changes
from tests.corpus.loading import Sample, corpus

Record = tuple[int, bytes, bytes]
"""Kind, key, value."""

STATE_FILE = re.compile(r"state/(?:.+/)?[^./][^/]*\.(delta|snapshot|changelog)")
EMPTY_BLOCK = b"LZ4Block" + struct.pack("<BiiI", 0x15, 0, 0, 0)


def lz4_block(plain: bytes, *, stored: bool = False) -> bytes:
    """Write one block."""
    packed = plain if stored else pa.Codec("lz4_raw").compress(plain, asbytes=True)
    total = xxhash.xxh32_intdigest(plain, 0x9747B28C) & 0x0FFFFFFF
    token = (0x10 if stored else 0x20) | 5
    return b"LZ4Block" + struct.pack("<BiiI", token, len(packed), len(plain), total) + packed


def lz4(plain: bytes, block: int = 1 << 15) -> bytes:
    """Write a file of blocks and the empty one at its end."""
    starts = range(0, len(plain), block)
    blocks = (
        lz4_block(plain[start : start + block], stored=index % 3 == 2)
        for index, start in enumerate(starts)
    )
    return b"".join(blocks) + EMPTY_BLOCK


def snappy(plain: bytes, block: int = 1 << 15) -> bytes:
    """Write a file of snappy chunks."""
    codec = pa.Codec("snappy")
    packed = [
        codec.compress(plain[start : start + block], asbytes=True)
        for start in range(0, len(plain), block)
    ]
    header = b"\x82SNAPPY\0" + struct.pack(">ii", 1, 1)
    return header + b"".join(struct.pack(">i", len(chunk)) + chunk for chunk in packed)


def zstd(plain: bytes) -> bytes:
    """Write a zstd stream, which does not say its length in advance."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(plain)
    return bytes(sink.getvalue())


def lzf(plain: bytes) -> bytes:
    """Write a file of lzf chunks that are stored plain."""
    chunks = (plain[start : start + 65_535] for start in range(0, len(plain), 65_535))
    return b"".join(b"ZV\0" + struct.pack(">H", len(chunk)) + chunk for chunk in chunks)


def untyped(records: Iterable[Record], *, end: bool = True) -> bytes:
    """Write records as deltas, snapshots and changelogs 1 and 3 hold them."""
    parts = []
    for kind, key, value in records:
        length = -1 if kind == DELETE else len(value)
        parts += [struct.pack(">i", len(key)), key, struct.pack(">i", length), value]
    return b"".join(parts) + (b"\xff" * 4 if end else b"")


def typed(records: Iterable[Record], *, end: bool = True) -> bytes:
    """Write records as changelogs 2 and 4 hold them."""
    parts = []
    for record in records:
        parts += [bytes([record[0]]), untyped([record], end=False)]
    return b"".join(parts) + (b"\0" if end else b"")


def plainly_read(data: bytes, *, has_kinds: bool = False) -> list[Record]:
    """Read records one by one until the end marker; what can't be read raises struct.error."""
    records: list[Record] = []
    byte = 0
    while True:
        if has_kinds and data[byte : byte + 1] == b"\0":
            return records
        (length,) = struct.unpack_from(">i", data, byte + has_kinds)
        if length == -1 and not has_kinds:
            return records
        start = byte + 4 + has_kinds
        key = data[start : start + length]
        (value_length,) = struct.unpack_from(">i", data, start + length)
        value = data[start + length + 4 :][: max(value_length, 0)]
        if length < 0 or len(value) < value_length:
            raise struct.error
        kind = data[byte] if has_kinds else DELETE if value_length < 0 else PUT
        records.append((kind, key, value))
        byte = start + length + 4 + len(value)


def listed(pieces: Iterable[Changes]) -> list[Record]:
    """Give each change of some pieces as a Python object."""
    return [
        (int(changes.kinds[index]), changes.keys.at(index), changes.values.at(index))
        for changes in pieces
        for index in range(len(changes))
    ]


def real_state_files(*suffixes: str) -> Iterator[tuple[Sample, str, bytes]]:
    """Give every state file of the corpus with one of these suffixes."""
    for sample, path, data in _all_real_state_files():
        if path.rpartition(".")[2] in suffixes:
            yield sample, path, data


@cache
def _all_real_state_files() -> list[tuple[Sample, str, bytes]]:
    return [
        (sample, path, data)
        for sample in corpus()
        for path, data in sample.files().items()
        if STATE_FILE.fullmatch(path)
    ]
