"""Every RocksDB snapshot of the corpus gives the rows that Spark itself read from it."""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Any

from holdfast.format.buffers import Spans
from holdfast.format.rocksdb.keys import (
    KeyEncoder,
    KeyLayout,
    family_prefix,
    split_families,
    split_keys,
)
from holdfast.format.rocksdb.values import split_values
from holdfast.state.decoding import Encoding, RowDecoder
from holdfast.state.layouts import Shown, StoreLayout
from holdfast.state.loading.rocksdb import open_tables, read_snapshot
from holdfast.storage.memory import MemoryReader
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, sample
from tests.format.sparkjson import spark_rows
from tests.state.realtables import real_layouts, real_partitions, samples_with_tables, zips_of

SAMPLES = samples_with_tables()
_FORMAT = "spark.sql.streaming.stateStore.encodingFormat"
_NAMES = {Shown.LIST: "list_element", Shown.MAP: "user_map_value"}


@over_samples("one", SAMPLES)
def test_every_snapshot_holds_as_many_keys_as_it_says(one: Sample) -> None:
    reader = MemoryReader(one.files())
    for path in zips_of(one):
        snapshot = read_snapshot(reader, path)
        assert snapshot.key_count is not None
        with open_tables(reader, path, snapshot) as tables:
            assert sum(map(len, tables.entries(chunk_bytes=200))) == snapshot.key_count


def told(layout: StoreLayout, partition: int, keys: Any, values: Any) -> dict[str, Any]:
    """Tell one row as Spark's reader does."""
    if layout.shown is Shown.TIMER:
        expiry = keys["expiryTimestampMs"]
        return {
            "key": keys["key"],
            "expiration_timestamp_ms": expiry,
            "partition_id": partition,
        }
    row = {"key": keys["key"] if layout.nested_key else keys}
    if layout.shown is Shown.MAP:
        row["user_map_key"] = keys["userKey"]
    row[_NAMES.get(layout.shown, "value")] = values
    return {**row, "partition_id": partition}


def read(one: Sample, wanted: Container[str]) -> dict[str, list[dict[str, Any]]]:
    """Read the rows of the wanted stores and state variables."""
    rows: dict[str, list[dict[str, Any]]] = {}
    avro = one.facts["settings"].get(_FORMAT) == "avro"
    for partition in real_partitions(one):
        for layout in real_layouts(one, partition.operator):
            name = f"{partition.operator}/{layout.name}"
            if layout.store != partition.store or name not in wanted:
                continue
            encoding = Encoding(True, avro=avro, delimiter=partition.delimiter)
            keys, values = RowDecoder(layout, encoding).decode(partition.of(layout))
            shown = zip(spark_rows(keys), spark_rows(values), strict=True)
            found = [told(layout, partition.number, key, value) for key, value in shown]
            rows.setdefault(name, []).extend(found)
    return rows


def expected(one: Sample) -> dict[str, list[dict[str, Any]]]:
    """Give what Spark read; where it could not, another version made the same rows."""
    twins = [one, *(sample(one.name, spark) for spark in ("4.0.5", "4.3.0"))]
    able = [twin for twin in twins if twin.archive.exists() and _could_read(twin)]
    return {
        f"{told['operatorId']}/{_asked_for(told)}": told["rows"] for told in able[0].facts["state"]
    }


def _could_read(one: Sample) -> bool:
    state = one.facts.get("state") or []
    return bool(state) and all("refusal" not in told for told in state)


def _asked_for(told: dict[str, Any]) -> str:
    if "readRegisteredTimers" in told:
        return "timers"
    name: str = told.get("stateVarName", told["storeName"])
    return name


def in_order(rows: list[dict[str, Any]]) -> list[str]:
    """Sort rows: partitions are read in any order."""
    return sorted(json.dumps(row, sort_keys=True) for row in rows)


@over_samples("one", SAMPLES)
def test_rows_are_those_that_spark_read(one: Sample) -> None:
    wanted = expected(one)
    rows = read(one, wanted)
    for name, expected_rows in wanted.items():
        assert in_order(rows.get(name, [])) == in_order(expected_rows), name
    assert any(wanted.values()) or one.name == "session-window-rocksdb"


def test_both_sides_of_a_list_encoded_join_hold_lists_in_every_family() -> None:
    (first, _) = real_partitions(sample("join-format-4", "4.3.0"))
    prefix = family_prefix(first.families["left-tsWithKey"])
    found = {key: value for key, value in first.entries.items() if key.startswith(prefix)}
    _, keys = split_families(Spans.of(found))
    parts = split_keys(keys, KeyEncoder(KeyLayout.TIMESTAMP_FIRST))
    values = split_values(keys, Spans.of(found.values()), multiple=True)
    assert parts.timestamps is not None
    assert parts.timestamps.tolist() == [1767225603000000, 1767225663000000, 1767225723000000]
    assert values.owners.tolist() == [0, 1, 2]
    assert values.rows.lengths.tolist() == [16, 16, 16]
