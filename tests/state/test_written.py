"""State that the benchmark writes is state: it is read back as it was meant, at any batch."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from benchmarks.statestore import BATCHES, PARTITIONS, write_state
from holdfast.checkpoint.reading import read_picture
from holdfast.format.state.partitionhash import partitions_of
from holdfast.state.reading import open_state
from holdfast.storage.local import LocalReader

KEYS = 20_000


@pytest.mark.parametrize("suffix", ["delta", "changelog"])
@pytest.mark.parametrize("batch", [0, 4, BATCHES - 1])
def test_every_key_is_there_once_where_its_hash_says(
    suffix: str, batch: int, tmp_path: Path
) -> None:
    """Each batch brings its share of the keys, and changes some of the share before."""
    reader = LocalReader(str(write_state(tmp_path, KEYS, suffix)))
    view = open_state(reader, read_picture(reader), batch=batch)
    table = pa.Table.from_batches(view.batches(), view.schema)
    keys = table["key"].combine_chunks()
    share = KEYS // BATCHES
    assert len(table) == share * (batch + 1)
    assert len(keys.field("key").unique()) == len(table)
    assert table["partition"].to_pylist() == partitions_of(keys, PARTITIONS).tolist()
    counts = pc.value_counts(table["value"].combine_chunks().field("count")).to_pylist()
    again = share // 20
    expected = dict.fromkeys(range(1, batch + 2), share)
    if batch:
        expected[1] -= again
        expected[batch + 1] += again
    assert {one["values"]: one["counts"] for one in counts} == expected
