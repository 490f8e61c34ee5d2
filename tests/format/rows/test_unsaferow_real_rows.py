"""Every row of a real HDFS-backed store is decoded to what Spark's own reader said of it."""

from __future__ import annotations

import json
from typing import Any

from holdfast.format.buffers import Spans
from holdfast.format.rows.types import arrow_schema
from holdfast.format.rows.unsaferow import decode_rows, encode_row
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus
from tests.format.realrows import Store, real_stores
from tests.format.sparkjson import spark_rows

SAMPLES = [sample for sample in corpus() if real_stores(sample)]
TYPES = {
    "boolean", "byte", "short", "integer", "long", "float", "double", "date", "timestamp",
    "timestamp_ntz", "string", "binary", "decimal(14,6)", "decimal(38,6)", "void",
    "interval day to second", "interval year to month", "struct", "array", "map",
}  # fmt: skip


def decoded(store: Store) -> list[str]:
    """Tell the rows of a store as the facts do, sorted."""
    rows = []
    keys, values = arrow_schema(store.schema.key_json), arrow_schema(store.schema.value_json)
    for partition, entries in store.partitions.items():
        told_keys = spark_rows(decode_rows(Spans.of(entries), keys))
        told_values = spark_rows(decode_rows(Spans.of(entries.values()), values))
        for key, value in zip(told_keys, told_values, strict=True):
            rows.append({"key": key, "value": value, "partition_id": partition})
    return sorted(map(json.dumps, rows))


def told(sample: Sample, store: Store) -> list[dict[str, Any]] | None:
    """Give what Spark's reader said of a store, nothing where it could not say."""
    for entry in sample.facts["state"] or ():
        if (entry["operatorId"], entry["storeName"]) == (store.operator, store.name):
            rows: list[dict[str, Any]] | None = entry["rows"]
            return rows
    return None


@over_samples("sample", SAMPLES)
def test_rows_are_what_spark_said(sample: Sample) -> None:
    """Spark 3.5 has no reader: its rows are only decoded."""
    for store in real_stores(sample):
        rows = told(sample, store)
        found = decoded(store)
        if rows is not None:
            assert found == sorted(map(json.dumps, rows)), str(store)


def test_most_stores_were_compared() -> None:
    """The comparison is no empty one."""
    compared = [
        len(told(sample, store) or ()) for sample in SAMPLES for store in real_stores(sample)
    ]
    assert sum(count > 0 for count in compared) > 100
    assert sum(compared) > 500


def test_every_common_type_occurs() -> None:
    """What is missing here is covered by round trips alone."""
    schemas = [store.schema for sample in SAMPLES for store in real_stores(sample)]
    text = "".join(schema.key_json + schema.value_json for schema in schemas)
    assert {name for name in TYPES if f'"{name}"' in text} == TYPES


@over_samples("sample", SAMPLES)
def test_keys_are_encoded_to_the_same_bytes(sample: Sample) -> None:
    """A key that was decoded is found again by its bytes; so are values."""
    for store in real_stores(sample):
        columns = arrow_schema(store.schema.key_json)
        for entries in store.partitions.values():
            for key in entries:
                (row,) = decode_rows(Spans.of([key]), columns).to_pylist()
                assert encode_row(list(row.values()), columns) == key, str(store)
