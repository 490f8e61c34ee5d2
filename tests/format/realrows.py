"""Reads the rows of real HDFS-backed stores, slowly and on its own, to compare decoders with."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

import pyarrow as pa

from holdfast.format.state.schema import ColumnFamilySchema, decode_state_schema
from tests.corpus.loading import Sample

_DELTA = re.compile(r"state/(\d+)/(\d+)/(?:([^/]+)/)?(\d+)\.delta")
_LZ4, _ZSTD, _SNAPPY, _LZF = b"LZ4Block", b"\x28\xb5\x2f\xfd", b"\x82SNAPPY\0", b"ZV"


@dataclass
class Store:
    """One store over all of its partitions, at its newest version."""

    sample: Sample
    operator: str
    name: str
    schema: ColumnFamilySchema
    partitions: dict[int, dict[bytes, bytes]] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.sample}-{self.operator}-{self.name}"


@cache
def real_stores(sample: Sample) -> list[Store]:
    """Give the stores of a sample whose every delta is there and not of LZF."""
    files = sample.files()
    if any(_DELTA.fullmatch(path) and data.startswith(_LZF) for path, data in files.items()):
        return []
    last = last_committed(files)
    stores: dict[tuple[str, str], Store] = {}
    for operator, partition, name, version in sorted(_deltas(files), key=lambda found: found[3]):
        if version > last + 1:
            continue
        folder = f"state/{operator}/0/" + ("" if name == "default" else f"{name}/")
        (schema,) = decode_state_schema(files[f"{folder}_metadata/schema"]).families
        store = stores.setdefault((operator, name), Store(sample, operator, name, schema))
        rows = store.partitions.setdefault(partition, {})
        place = f"{folder}{version}.delta".replace(f"{operator}/0/", f"{operator}/{partition}/", 1)
        _apply(rows, decompress(files[place]), checksum=_has_row_checksum(sample))
    return [store for store in stores.values() if _is_whole(store, files)]


def last_committed(files: dict[str, bytes]) -> int:
    """Give the newest batch in the commit log, -1 where there is none."""
    commits = [path.removeprefix("commits/") for path in files if path.startswith("commits/")]
    return max((int(name) for name in commits if name.isdigit()), default=-1)


def _deltas(files: dict[str, bytes]) -> Iterator[tuple[str, int, str, int]]:
    for path in files:
        if found := _DELTA.fullmatch(path):
            operator, partition, name, version = found.groups()
            yield operator, int(partition), name or "default", int(version)


def _is_whole(store: Store, files: dict[str, bytes]) -> bool:
    folder = f"state/{store.operator}/0/" + ("" if store.name == "default" else f"{store.name}/")
    return f"{folder}1.delta" in files


def _has_row_checksum(sample: Sample) -> bool:
    settings = sample.facts["settings"]
    return str(settings.get("spark.sql.streaming.stateStore.rowChecksum.enabled")) == "true"


def _apply(rows: dict[bytes, bytes], data: bytes, *, checksum: bool) -> None:
    source = io.BytesIO(data)
    while (length := _int(source)) != -1:
        key, size = source.read(length), _int(source)
        if size == -1:
            rows.pop(key[4:] if checksum else key, None)
        else:
            value = source.read(size)
            rows[key] = value[4:] if checksum else value


def _int(source: io.BytesIO) -> int:
    number: int = struct.unpack(">i", source.read(4))[0]
    return number


def decompress(data: bytes) -> bytes:
    """Decompress what one of Spark's codecs wrote, without checking it."""
    if data.startswith(_LZ4):
        return b"".join(_lz4_blocks(data))
    if data.startswith(_SNAPPY):
        return b"".join(_snappy_chunks(data))
    assert data.startswith(_ZSTD)
    with pa.CompressedInputStream(pa.py_buffer(data), "zstd") as stream:
        whole: bytes = stream.read()
    return whole


def _lz4_blocks(data: bytes) -> Iterator[bytes]:
    place = 0
    while place < len(data):
        token, packed, size = struct.unpack_from("<Bii", data, place + 8)
        block = data[place + 21 : place + 21 + packed]
        place += 21 + packed
        if size:
            stored = token & 0xF0 == 0x10
            yield block if stored else pa.Codec("lz4_raw").decompress(block, size, asbytes=True)


def _snappy_chunks(data: bytes) -> Iterator[bytes]:
    place = 16
    while place < len(data):
        (size,) = struct.unpack_from(">i", data, place)
        chunk = data[place + 4 : place + 4 + size]
        place += 4 + size
        yield pa.Codec("snappy").decompress(chunk, _snappy_size(chunk), asbytes=True)


def _snappy_size(chunk: bytes) -> int:
    size = 0
    for index, byte in enumerate(chunk[:5]):
        size |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            break
    return size
