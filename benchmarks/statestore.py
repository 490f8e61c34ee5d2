"""Writes the state of a count, a sum and a maximum by a text key, as Spark would, for any size.

Every batch changes its share of the keys, and the first ones of the share before it once more.
Files are HDFS-backed deltas or RocksDB changelogs; nothing writes a snapshot, so that a reader has
to lay all of them over one another. `python -m benchmarks.statestore FOLDER KEYS delta|changelog`
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import xxhash

from holdfast.format.state.operators import OperatorMetadata, StoreInfo, encode_operator
from holdfast.format.state.partitionhash import partitions_of
from holdfast.format.state.schema import ColumnFamilySchema, StateSchema, encode_state_schema

PARTITIONS = 4
BATCHES = 10
_AGAIN = 20
"""One in so many keys of a share is changed again by the next batch."""
_BLOCK = 32 << 10
_KEY_JSON = (
    '{"type":"struct","fields":[{"name":"key","type":"string","nullable":true,"metadata":{}}]}'
)
_LONG = '{{"name":"{}","type":"long","nullable":true,"metadata":{{}}}}'
_VALUE_JSON = '{{"type":"struct","fields":[{}]}}'.format(
    ",".join(_LONG.format(name) for name in ("count", "sum", "max"))
)
_PROVIDERS = {"delta": "HDFSBacked", "changelog": "RocksDB"}


def write_state(folder: Path, keys: int, suffix: str = "delta") -> Path:
    """Write a checkpoint with so many keys; `suffix` is delta or changelog."""
    _write_logs(folder, suffix)
    share = -(-keys // BATCHES)
    for batch in range(BATCHES):
        first = batch * share
        own = np.arange(first, min(first + share, keys))
        again = np.arange(max(first - share, 0), first)[::_AGAIN]
        numbers = np.concatenate([again, own])
        names = np.char.mod("key-%012d", numbers)
        placed = partitions_of(pa.StructArray.from_arrays([pa.array(names)], ["key"]), PARTITIONS)
        for partition in range(PARTITIONS):
            records = _records(numbers[placed == partition], batch, rocksdb=suffix == "changelog")
            path = folder / "state" / "0" / str(partition) / f"{batch + 1}.{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_compressed(records))
    return folder


def _records(numbers: npt.NDArray[np.int64], batch: int, *, rocksdb: bool) -> bytes:
    """Lay out all records at once: they are of one length."""
    lead = [("version", "u1")] if rocksdb else []
    key = [*lead, ("nulls", "<i8"), ("pointer", "<i8"), ("text", "S16")]
    value = [*lead, ("nulls", "<i8"), ("count", "<i8"), ("sum", "<i8"), ("max", "<i8")]
    kind = np.dtype([("keys", ">i4"), ("key", key), ("values", ">i4"), ("value", value)])
    rows = np.zeros(len(numbers), kind)
    rows["keys"], rows["values"] = np.dtype(key).itemsize, np.dtype(value).itemsize
    rows["key"]["pointer"] = 16 << 32 | 16
    rows["key"]["text"] = np.char.mod("key-%012d", numbers).astype("S16")
    rows["value"]["count"], rows["value"]["sum"] = batch + 1, numbers * (batch + 1)
    rows["value"]["max"] = numbers
    return rows.tobytes() + struct.pack(">i", -1)


def _compressed(data: bytes) -> bytes:
    codec = pa.Codec("lz4_raw")
    blocks = []
    for start in range(0, len(data), _BLOCK):
        block = data[start : start + _BLOCK]
        packed = codec.compress(block, asbytes=True)
        blocks.append(_header(len(packed), len(block), xxhash.xxh32_intdigest(block, 0x9747B28C)))
        blocks.append(packed)
    return b"".join([*blocks, _header(0, 0, 0)])


def _header(packed: int, plain: int, checksum: int) -> bytes:
    token = 0x25 if plain else 0x15
    return struct.pack("<8sBiiI", b"LZ4Block", token, packed, plain, checksum & 0x0FFFFFFF)


def _write_logs(folder: Path, suffix: str) -> None:
    provider = f"org.apache.spark.sql.execution.streaming.state.{_PROVIDERS[suffix]}"
    settings = (
        f'{{"spark.sql.streaming.stateStore.providerClass":"{provider}StateStoreProvider",'
        f'"spark.sql.shuffle.partitions":"{PARTITIONS}"}}'
    )
    offsets = (
        f'v1\n{{"batchWatermarkMs":0,"batchTimestampMs":0,"conf":{settings}}}\n{{"logOffset":0}}'
    )
    family = ColumnFamilySchema("default", 0, _KEY_JSON, 0, _VALUE_JSON)
    stores = (StoreInfo("default", 0, PARTITIONS),)
    files = {
        "metadata": b'{"id":"00000000-0000-4000-8000-000000000000"}',
        "state/0/0/_metadata/schema": encode_state_schema(StateSchema(2, (family,))),
        "state/0/_metadata/metadata": encode_operator(
            OperatorMetadata(1, 0, "stateStoreSave", stores)
        ),
        **{f"offsets/{batch}": offsets.encode() for batch in range(BATCHES)},
        **{f"commits/{batch}": b'v1\n{"nextBatchWatermarkMs":0}' for batch in range(BATCHES)},
    }
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)


if __name__ == "__main__":
    write_state(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
