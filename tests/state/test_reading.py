"""Opening a store: what is asked for, what is refused, and what happens where files are damaged."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from holdfast.errors import CheckpointError, HoldfastError, UsageError
from holdfast.findings import Severity
from holdfast.format.buffers import Changes
from holdfast.format.state.schema import (
    ColumnFamilySchema,
    StateSchema,
    decode_state_schema,
    encode_state_schema,
)
from holdfast.state.loading.chains import Link
from holdfast.state.loading.links import LinkReader
from holdfast.state.reading import StateView
from tests.corpus.loading import sample
from tests.state.states import rows_of, view_of

Files = dict[str, bytes]
SNAPSHOTS = ("aggregation-hdfs-snapshots", "4.3.0")
FAMILIES = {
    "hdfs": "aggregation-hdfs-snapshots",
    "zips": "aggregation-rocksdb-changelog-snapshots",
    "ids": "aggregation-rocksdb-format-2-snapshots",
}


def files_of(name: str, spark: str = "4.3.0") -> Files:
    """The files of a sample, to be changed."""
    return dict(sample(name, spark).files())


def refused(files: Files, **asked: Any) -> HoldfastError:
    """Ask for what can't be given."""
    with pytest.raises(HoldfastError) as failure:
        rows_of(view_of(files, **asked))
    return failure.value


def sorted_rows(files: Files, **asked: Any) -> list[str]:
    """Give rows in an order of their own."""
    return sorted(json.dumps(row, sort_keys=True) for row in rows_of(view_of(files, **asked)))


def test_a_view_says_what_it_is() -> None:
    """Operator, store, batch, version, partitions and columns, before a row is read."""
    view = view_of(files_of(*SNAPSHOTS))
    assert (view.operator, view.store, view.batch_id, view.version) == (0, "default", 8, 9)
    assert view.partitions == (0, 1)
    assert view.schema.names == ["partition", "key", "value"]
    assert view.schema.field("partition").type == pa.int32()
    assert view.schema.field("value").type.field("sum").type == pa.int64()
    assert all(batch.schema.equals(view.schema) for batch in view.batches())


@pytest.mark.parametrize(
    ("store", "names"),
    [
        ("total", ["partition", "key", "value", "expires_at_ms"]),
        ("values", ["partition", "key", "value", "expires_at_ms"]),
        ("by_parity", ["partition", "key", "user_map_key", "value", "expires_at_ms"]),
        ("timers", ["partition", "key", "value"]),
        ("$procTimers_timestampToKey", ["partition", "key", "value"]),
    ],
)
def test_state_variables_are_asked_for_by_name(store: str, names: list[str]) -> None:
    """Maps show their own key, and what expires shows when; Spark's own bookkeeping opens too."""
    view = view_of(files_of("transform-pandas-timers"), store=store)
    assert view.schema.names == names
    batches = list(view.batches())
    assert batches
    assert all(batch.schema.equals(view.schema) for batch in batches)


def test_without_a_name_a_join_shows_its_rows() -> None:
    """Not the counters that come first by name; the other names are there to be asked for."""
    view = view_of(files_of("join"))
    assert view.store == "left-keyWithIndexToValue"
    assert len(view.layouts) == 4


@pytest.mark.parametrize(
    ("name", "asked", "code"),
    [
        ("stateless", {}, "HF2740"),
        ("limit", {"operator": 3}, "HF2741"),
        ("join", {"store": "default"}, "HF2742"),
        ("limit", {"batch": 77}, "HF2743"),
        ("pending-first", {}, "HF2740"),
        ("aggregation-hdfs-lz4", {"key": {"nobody": 1}}, "HF2748"),
        ("aggregation-hdfs-lz4", {"key": {}}, "HF2748"),
        ("aggregation-hdfs-lz4", {"partition": 2}, "HF2749"),
    ],
)
def test_what_is_not_there_is_refused(name: str, asked: dict[str, Any], code: str) -> None:
    """With the names that are there."""
    error = refused(files_of(name), **asked)
    assert error.code.number == code
    assert isinstance(error, UsageError)


def test_nothing_committed_is_told() -> None:
    """State of a batch that is not committed is not shown."""
    files = {name: data for name, data in files_of("limit").items() if "commits/" not in name}
    assert refused(files).code.number == "HF2743"


def test_a_foreign_provider_is_told() -> None:
    """Its files have other names."""
    files = files_of("limit")
    for name in [one for one in files if one.endswith(".delta")]:
        files[f"{name}.other"] = files.pop(name)
    for name in [one for one in files if one.startswith("offsets/")]:
        files[name] = files[name].replace(b"HDFSBackedStateStoreProvider", b"Elsewhere")
    assert refused(files).code.number == "HF2750"


@pytest.mark.parametrize("batch", range(9))
def test_every_kept_batch_is_the_same_for_every_provider(batch: int) -> None:
    """Three ways to keep the same state, with snapshots at different batches."""
    found = [sorted_rows(files_of(name), batch=batch) for name in FAMILIES.values()]
    assert found[0]
    assert found[1] == found[0]
    assert found[2] == found[0]


def test_partitions_add_up_to_the_whole() -> None:
    """Each row is in the partition that it names."""
    files = files_of("types")
    parts = [rows_of(view_of(files, partition=one)) for one in (0, 1)]
    assert all(row["partition"] == at for at, part in enumerate(parts) for row in part)
    assert [*parts[0], *parts[1]] == rows_of(view_of(files))


def test_after_a_repartition_each_batch_has_its_own_number() -> None:
    """Two partitions before it, three since."""
    files = files_of("repartitioned")
    newest = view_of(files)
    assert len(newest.partitions) == 3
    assert len(view_of(files, batch=0).partitions) == 2
    assert len(rows_of(newest)) == len(rows_of(view_of(files, batch=1)))
    assert newest.loadable_batches() == newest.log.committed


def test_kept_batches_are_those_that_can_be_loaded() -> None:
    """Purging left fewer state files than a first version would need."""
    view = view_of(files_of("aggregation-hdfs-purged"))
    kept = view.loadable_batches()
    assert kept
    assert kept[-1] == view.batch_id
    for batch in view.log.committed:
        files = files_of("aggregation-hdfs-purged")
        if batch in kept:
            assert rows_of(view_of(files, batch=batch))
        else:
            assert refused(files, batch=batch).code.number == "HF2744"


def broken(files: Files, name: str, change: Callable[[bytes], bytes] | None) -> None:
    """Change or remove every file of a name in all partitions, and Hadoop's checksums."""
    for path in [one for one in files if one.rpartition("/")[2].startswith((name, f".{name}"))]:
        if change is None or "/." in path:
            del files[path]
        else:
            files[path] = change(files[path])


def halved(data: bytes) -> bytes:
    """Cut a file."""
    return data[: len(data) // 2]


@pytest.mark.parametrize("change", [None, halved], ids=["missing", "cut"])
def test_a_broken_change_names_the_nearest_batch(change: Callable[[bytes], bytes] | None) -> None:
    """Version 8 has no snapshot of its own or after: batch 6 is the last before."""
    files = files_of("aggregation-hdfs-lz4")
    whole = sorted_rows(files, batch=2)
    broken(files, "4.delta", change)
    error = refused(files)
    assert error.code.number == "HF2744"
    assert error.at is not None
    assert "4.delta" in error.at
    assert "the nearest batch whose state can be loaded is 2" in error.message
    assert sorted_rows(files, batch=2) == whole


def test_a_cut_changelog_with_ids_names_the_nearest_batch() -> None:
    """Also where the chain is told by lineages."""
    files = files_of("aggregation-rocksdb-format-2-changelog")
    broken(files, "4_", halved)
    error = refused(files)
    assert error.code.number == "HF2744"
    assert "the nearest batch whose state can be loaded is 2" in error.message


def test_a_damaged_snapshot_is_passed_over_and_told() -> None:
    """The older one and the deltas since give the same rows."""
    files = files_of(*SNAPSHOTS)
    whole = sorted_rows(files)
    newest = max(int(one.split("/")[3].split(".")[0]) for one in files if one.endswith(".snapshot"))
    broken(files, f"{newest}.snapshot", halved)
    view = view_of(files)
    assert sorted(json.dumps(row, sort_keys=True) for row in rows_of(view)) == whole
    assert {finding.code for finding in view.findings} == {"HF2747"}


def test_a_missing_table_falls_back_to_an_older_zip() -> None:
    """As a damaged snapshot of the other provider does."""
    files = files_of("aggregation-rocksdb-changelog-snapshots")
    whole = sorted_rows(files)
    newest = max(int(one.split("/")[3].split(".")[0]) for one in files if one.endswith(".zip"))
    broken(files, f"{newest}.zip", halved)
    view = view_of(files)
    assert sorted(json.dumps(row, sort_keys=True) for row in rows_of(view)) == whole
    assert "HF2747" in {finding.code for finding in view.findings}


def test_damage_that_no_decoder_notices_is_told_by_hadoops_checksum() -> None:
    """Zstandard lets a flipped bit pass: the rows are shown, with an error at the file."""
    files = files_of("aggregation-hdfs-zstd")
    path = "state/0/1/3.delta"
    assert not view_with_rows(files).findings
    for at in range(len(files[path])):
        data = bytearray(files[path])
        data[at] ^= 1
        try:
            view = view_with_rows({**files, path: bytes(data)})
        except HoldfastError:
            continue
        assert [(one.code, one.place.file) for one in view.findings] == [("HF2111", path)]
        assert view.findings[0].severity is Severity.ERROR
        assert "Spark compares the checksum" in view.findings[0].why
        return
    pytest.fail("every flipped bit was noticed")


def view_with_rows(files: Files) -> StateView:
    """Open a view and read it to the end."""
    view = view_of(files)
    rows_of(view)
    return view


def test_a_missing_partition_is_told() -> None:
    """Its folder is the place."""
    files = {name: data for name, data in files_of(*SNAPSHOTS).items() if "state/0/1/" not in name}
    error = refused(files)
    assert error.code.number == "HF2744"
    assert error.at == "memory/state/0/1"


def test_families_without_a_snapshot_can_not_be_told_apart() -> None:
    """Only zips name the numbers in front of keys."""
    files = files_of("transform-pandas")
    broken(files, "1.zip", None)
    assert refused(files).code.number == "HF2751"


def test_any_snapshot_tells_the_number_of_a_family() -> None:
    """A later zip does for a chain of changelogs; a damaged one is named if there is no other."""
    files = files_of("transform-pandas-evolved")
    whole = sorted_rows(files, batch=1)
    assert whole
    broken(files, "1.zip", halved)
    assert sorted_rows(files, batch=1) == whole
    broken(files, "4.zip", None)
    error = refused(files, batch=1)
    assert error.code.number == "HF2751"
    assert "1.zip is damaged" in error.message


def test_rows_without_a_schema_are_shown_as_bytes() -> None:
    """With a finding that says so, damaged or missing."""
    files = files_of(*SNAPSHOTS)
    count = len(rows_of(view_of(files)))
    del files["state/0/0/_metadata/schema"]
    view = view_of(files)
    assert view.schema.field("key").type == pa.struct([("bytes", pa.binary())])
    assert len(rows_of(view)) == count
    assert [finding.code for finding in view.findings] == ["HF2745"]


def test_old_deduplications_keep_less_than_their_schema_says() -> None:
    """Spark 3.2 and 3.3 recorded the input row and stored an empty one: values are null."""
    files = files_of("deduplicate")
    path = "state/0/0/_metadata/schema"
    (family,) = decode_state_schema(files[path]).families
    wide = replace(family, value_json=files_schema("types").value_json)
    files[path] = encode_state_schema(StateSchema(2, (wide,)))
    files = {name: data for name, data in files.items() if "/." not in name}
    rows = rows_of(view_of(files))
    assert [row["key"] for row in rows] == [row["key"] for row in rows_of(deduplicated())]
    assert {row["value"] for row in rows} == {None}


def files_schema(name: str) -> ColumnFamilySchema:
    """The schema of a sample's only store."""
    return decode_state_schema(files_of(name)["state/0/0/_metadata/schema"]).families[0]


def deduplicated() -> StateView:
    """The untouched sample."""
    return view_of(files_of("deduplicate"))


def test_little_memory_gives_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not the overlay goes to disk."""
    monkeypatch.setattr("holdfast.state.loading.partition._LEAST_BYTES", 500)
    monkeypatch.setattr("holdfast.state.loading.partition._WORKING_BYTES", 0)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    for name in ("types", "join-format-4", "transform-pandas"):
        files = files_of(name)
        assert sorted_rows(files, memory_bytes=500) == sorted_rows(files)
    assert list(tmp_path.iterdir()) == []


def test_a_row_that_does_not_fit_its_columns_is_located() -> None:
    """The schema of another store: the folder of the partition is the place."""
    files = files_of("join")
    schema = "state/0/0/{}/_metadata/schema"
    files[schema.format("left-keyToNumValues")] = files[schema.format("left-keyWithIndexToValue")]
    with pytest.raises(CheckpointError) as failure:
        rows_of(view_of(files, store="left-keyToNumValues"))
    assert failure.value.code.number == "HF2730"
    assert failure.value.at == "memory/state/0/1/left-keyToNumValues"


def read_before_the_first_row(name: str, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """Tell how many entries of a snapshot are read before the first row, and how many in all."""
    read: list[bytes] = []
    whole = LinkReader.changes

    def one_by_one(links: LinkReader, link: Link) -> Iterator[Changes]:
        for chunk in whole(links, link):
            for at in range(len(chunk)):
                read.extend([chunk.keys.at(at)] if link.whole else [])
                yield chunk.take(np.array([at]))

    monkeypatch.setattr(LinkReader, "changes", one_by_one)
    batches = view_of(files_of(name), partition=1).batches()
    next(batches)
    ahead = len(read)
    for _ in batches:
        pass
    return ahead, len(read)


def test_a_snapshot_is_read_ahead_where_other_files_can_take_its_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Otherwise rows would be shown twice, or damage be told that an older snapshot repairs."""
    name = "aggregation-rocksdb-changelog-snapshots"
    ahead, every = read_before_the_first_row(name, monkeypatch)
    assert ahead == every > 1


def test_a_snapshot_without_which_nothing_can_be_loaded_is_not_read_ahead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nobody waits for what changes nothing."""
    ahead, every = read_before_the_first_row("aggregation-rocksdb", monkeypatch)
    assert ahead == 1 < every
