"""Every key of the corpus lies in the partition that its hash names."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import date, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.errors import CheckpointError
from holdfast.format.buffers import Spans
from holdfast.format.rows.types import SPARK_TYPE, arrow_schema
from holdfast.format.rows.unsaferow import decode_rows
from holdfast.format.state.partitionhash import hash_columns, partition_of, partitions_of
from holdfast.format.state.schema import decode_state_schema
from tests.corpus.loading import Sample, corpus
from tests.format.realrows import last_committed, real_stores


def spread_by(columns: pa.Schema, store: str) -> list[int]:
    """Tell which columns of a key Spark spreads by."""
    names = columns.names
    if names == ["key"] and pa.types.is_null(columns.field(0).type):
        return []  # a limit: all in one place
    without = {"sessionStartTime"} | ({"index"} if store.endswith("keyWithIndexToValue") else set())
    return [index for index, name in enumerate(names) if name not in without]


def partition_count(files: dict[str, bytes]) -> int:
    """Read what the newest committed batch ran with."""
    lines = files[f"offsets/{last_committed(files)}"].decode().split("\n")
    metadata = next(json.loads(line) for line in lines[1:] if '"batchWatermarkMs"' in line)
    return int(metadata["conf"]["spark.sql.shuffle.partitions"])


def chosen(rows: pa.StructArray, indices: list[int]) -> pa.StructArray:
    fields = [rows.type.field(index) for index in indices]
    children = [rows.field(index) for index in indices]
    return pa.Array.from_buffers(pa.struct(fields), len(rows), [None], children=children)


def test_no_row_of_a_real_store_is_misplaced() -> None:
    """By the bytes of each key, in every partition's folder of every sample."""
    checked = 0
    for sample in corpus():
        for store in real_stores(sample):
            columns = arrow_schema(store.schema.key_json)
            count = partition_count(sample.files())
            for partition, entries in store.partitions.items():
                keys = decode_rows(Spans.of(entries), columns)
                placed = partitions_of(chosen(keys, spread_by(columns, store.name)), count)
                assert (placed == partition).all(), str(store)
                checked += len(entries)
    assert checked > 700


def told_keys(sample: Sample) -> Iterator[tuple[pa.Schema, str, list[dict[str, Any]]]]:
    """Give stores with one schema file each, whichever provider keeps them, and their rows."""
    files = sample.files()
    for entry in sample.facts["state"] or ():
        name = "" if entry["storeName"] == "default" else f"{entry['storeName']}/"
        schema = files.get(f"state/{entry['operatorId']}/0/{name}_metadata/schema")
        if schema and entry["rows"] and "stateVarName" not in entry:
            (family,) = decode_state_schema(schema).families
            yield arrow_schema(family.key_json), entry["storeName"], entry["rows"]


def untold(kind: pa.DataType, value: Any) -> Any:
    """Turn what Spark's JSON says of a value back into it."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        return {field.name: untold(field.type, value[field.name]) for field in kind}
    if pa.types.is_timestamp(kind):
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    if pa.types.is_date(kind):
        return date.fromisoformat(value)
    return base64.b64decode(value) if pa.types.is_binary(kind) else value


def test_no_row_that_spark_told_is_misplaced() -> None:
    """RocksDB's stores among them. Wide decimals and intervals are told too coarsely."""
    checked, providers = 0, set()
    for sample in corpus():
        if sample.name.startswith("types"):
            continue
        for columns, store, rows in told_keys(sample):
            indices = spread_by(columns, store)
            schema = pa.schema([columns.field(index) for index in indices])
            count = partition_count(sample.files())
            for row in rows:
                key = [untold(field.type, row["key"][field.name]) for field in schema]
                assert partition_of(key, schema, count) == row["partition_id"], str(sample)
                checked += 1
            providers.add(any(path.endswith(".delta") for path in sample.files()))
    assert checked > 800
    assert providers == {True, False}


def test_what_spark_documents() -> None:
    """The example on the page of its function `hash`."""
    rows = pa.array(
        [{"a": "Spark", "b": [123], "c": 2}],
        pa.struct({"a": pa.string(), "b": pa.list_(pa.int32()), "c": pa.int32()}),
    )
    assert hash_columns(rows).tolist() == [-1321691492]


def test_slices_and_nulls_do_not_matter() -> None:
    """Each row's hash is its own, wherever the row stands; a null leaves it as it was."""
    kind = pa.struct(
        {
            "text": pa.string(),
            "wide": pa.decimal128(38, 2),
            "narrow": pa.decimal128(9, 2),
            "list": pa.list_(pa.struct({"a": pa.int64(), "b": pa.binary()})),
            "flag": pa.bool_(),
            "real": pa.float32(),
        }
    )
    rows = pa.array(
        [
            {"text": "a", "wide": 1, "narrow": 1, "list": [], "flag": True, "real": 0.5},
            {"text": None, "wide": None, "narrow": None, "list": None, "flag": None, "real": None},
            {"text": "ab€de", "wide": -128, "list": [{"a": 1, "b": b"x"}, None, {"b": b"abcde"}]},
            {"text": "", "wide": 10**30, "narrow": -5, "list": [{"a": None}], "real": -1.0},
        ],
        kind,
    )
    whole = hash_columns(rows)
    assert whole[1] == 42
    assert len(set(whole.tolist())) == len(rows)
    for index in range(len(rows)):
        assert hash_columns(rows[index : index + 1]).tolist() == [whole[index]]
        assert hash_columns(pa.array([rows[index].as_py()], kind)).tolist() == [whole[index]]


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
def test_zero_has_one_sign_and_there_is_one_nan(kind: pa.DataType) -> None:
    """Spark hashes them so."""
    odd = np.array([0xFFF8000000000123], np.uint64).view(np.float64)[0]
    rows = pa.array(
        [{"a": 0.0}, {"a": -0.0}, {"a": float("nan")}, {"a": odd}], pa.struct({"a": kind})
    )
    zero, minus, one, other = hash_columns(rows).tolist()
    assert (zero, one) == (minus, other)


@pytest.mark.parametrize("partitions", [1, 7, 200])
def test_partitions_are_never_negative(partitions: int) -> None:
    """Whatever sign the hash has."""
    rows = pa.array([{"a": number} for number in range(200)], pa.struct({"a": pa.int64()}))
    assert (hash_columns(rows) < 0).any()
    placed = partitions_of(rows, partitions)
    assert (placed >= 0).all()
    assert (placed < partitions).all()
    assert partition_of([5], pa.schema({"a": pa.int64()}), partitions) == placed[5]


def test_without_columns_there_is_the_first_partition() -> None:
    """A total over everything has no key."""
    assert partition_of([], pa.schema([]), 5) == 0


@pytest.mark.parametrize("name", ["variant", "interval"])
def test_types_that_are_not_hashed(name: str) -> None:
    """Spark has no such keys."""
    kind = pa.struct({"value": pa.binary()})
    field = pa.field("a", kind, metadata={SPARK_TYPE: name.encode()})
    with pytest.raises(CheckpointError, match=name) as caught:
        partition_of([{"value": b""}], pa.schema([field]), 2)
    assert caught.value.code.number == "HF2738"
