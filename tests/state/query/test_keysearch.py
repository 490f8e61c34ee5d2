"""One key is found in its own partition, with exactly the rows that the whole store has of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from holdfast.checkpoint.reading import read_picture
from holdfast.errors import HoldfastError
from holdfast.state.reading import StateView, open_state
from holdfast.storage.memory import MemoryReader
from tests.corpus.loading import sample
from tests.state.states import rows_of, view_of

STORES = [
    ("aggregation-hdfs-lz4", "default"),
    ("aggregation-rocksdb", "default"),
    ("aggregation-rocksdb-format-2-changelog", "default"),
    ("row-checksum-hdfs", "default"),
    ("row-checksum-rocksdb", "default"),
    ("deduplicate-columns", "default"),
    ("join", "left-keyWithIndexToValue"),
    ("join-format-3", "right-keyToNumValues"),
    ("join-format-4", "left-keyWithTsToValues"),
    ("limit", "default"),
    ("session-window-rocksdb", "default"),
    ("transform-pandas", "values"),
    ("transform-pandas-zips", "total"),
    ("transform-pandas-avro", "by_parity"),
    ("transform-rows", "timers"),
    ("types", "default"),
    ("types-rocksdb", "default"),
]


class ReadPaths(MemoryReader):
    """Remembers what was read."""

    def __init__(self, files: dict[str, bytes]) -> None:
        super().__init__(files)
        self.paths: list[str] = []

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read, and remember."""
        self.paths.append(path)
        return super().read(path, start, length)

    def read_many(self, paths: Iterable[str]) -> Any:
        """Read several, and remember them."""
        wanted = list(paths)
        self.paths += wanted
        return super().read_many(wanted)


def python_keys(view: StateView) -> list[dict[str, Any]]:
    """Give the keys of all rows as Python values."""
    return [key for batch in view.batches() for key in batch.column("key").to_pylist()]


@pytest.mark.parametrize(("name", "store"), STORES)
def test_each_key_is_found_by_its_columns(name: str, store: str) -> None:
    """Whatever its types, and reading no file of another partition."""
    files = sample(name, "4.3.0").files()
    every = rows_of(view_of(files, store=store))
    keys = python_keys(view_of(files, store=store))
    assert keys
    for key in keys:
        reader = ReadPaths(files)
        view = open_state(reader, read_picture(reader), store=store, key=key)
        reader.paths.clear()
        found = rows_of(view)
        assert found == [row for row, one in zip(every, keys, strict=True) if one == key]
        assert len(view.partitions) == 1
        own = f"state/0/{view.partitions[0]}/"
        assert all(path.startswith(own) for path in reader.paths)


def test_a_part_of_a_key_finds_all_its_rows() -> None:
    """The key of a join without the index: one partition, several rows."""
    view = view_of(sample("join", "4.3.0").files(), key={"field0": "alder"})
    rows = rows_of(view)
    assert len(view.partitions) == 1
    assert sorted(row["key"]["index"] for row in rows) == [0, 1, 2]


def test_too_little_of_a_key_reads_every_partition() -> None:
    """A window's key without the window can be anywhere."""
    view = view_of(sample("aggregation-hdfs-lz4", "4.3.0").files(), key={"key": "birch"})
    assert view.partitions == (0, 1)
    rows = rows_of(view)
    assert rows
    assert {row["key"]["key"] for row in rows} == {"birch"}


def test_text_is_taken_for_what_the_column_is() -> None:
    """As the command line gives it."""
    files = sample("killed", "4.3.0").files()
    assert rows_of(view_of(files, key={"key": "2"})) == rows_of(view_of(files, key={"key": 2}))


def test_a_value_of_another_type_is_refused() -> None:
    """Before anything is read."""
    with pytest.raises(HoldfastError) as failure:
        view_of(sample("killed", "4.3.0").files(), key={"key": "two"})
    assert failure.value.exit_status == 2


def test_an_absent_key_gives_no_rows() -> None:
    """In both providers."""
    for name in ("aggregation-hdfs-snapshots", "aggregation-rocksdb-changelog-snapshots"):
        assert rows_of(view_of(sample(name, "4.3.0").files(), key={"key": "nobody"})) == []
