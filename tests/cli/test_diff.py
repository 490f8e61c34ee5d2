"""`holdfast diff A B` over the logs of two checkpoints."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.cli.running import holdfast
from tests.corpus.loading import sample


def twins(tmp_path: Path, name: str = "stateless") -> tuple[Path, Path]:
    """Give a real checkpoint and a copy of it."""
    left = sample(name, "4.3.0").extract(tmp_path / "left")
    right = tmp_path / "right"
    shutil.copytree(left, right)
    return left, right


def test_a_copy_is_identical(tmp_path: Path) -> None:
    """Nothing to tell."""
    left, right = twins(tmp_path)
    answered = holdfast("diff", str(left), str(right), "--json")
    assert answered.status == 0
    assert answered.document["schema"] == "holdfast.diff/1"
    assert answered.document["result"]["identical"] is True
    assert "The logs are identical" in holdfast("diff", str(left), str(right)).out


def test_a_copy_that_fell_behind(tmp_path: Path) -> None:
    """Batches on one side only, and how far the source is ahead."""
    left, right = twins(tmp_path)
    for path in ("offsets/3", "offsets/.3.crc", "commits/3", "commits/.3.crc"):
        (left / path).unlink()
    result = holdfast("diff", str(left), str(right), "--json").document["result"]
    assert result["same_query"] is True
    assert result["identical"] is False
    assert result["offsets"]["only_right"] == [[3, 3]]
    assert result["offsets"]["different"] == []
    (source,) = result["sources"]
    assert source["amount"]["total"] == 1
    assert source["amount"]["unit"] == "files"
    text = holdfast("diff", str(left), str(right)).out
    assert "offsets only here" in text
    assert "1 file" in text


def test_entries_that_say_different_things(tmp_path: Path) -> None:
    """Field by field."""
    left, right = twins(tmp_path)
    entry = right / "offsets" / "2"
    entry.write_bytes(entry.read_bytes().replace(b'Ms":0,', b'Ms":9,'))
    result = holdfast("diff", str(left), str(right), "--json").document["result"]
    assert result["offsets"]["different"] == [2]
    (difference,) = result["entries"]
    assert difference == {"batch_id": 2, "field": "watermark_ms", "left": 0, "right": 9}


def test_two_queries(tmp_path: Path) -> None:
    """Operators, settings and ids differ."""
    left = sample("stateless", "4.3.0").extract(tmp_path / "left")
    right = sample("aggregation-rocksdb", "4.2.1").extract(tmp_path / "right")
    result = holdfast("diff", str(left), str(right), "--json").document["result"]
    assert result["same_query"] is False
    assert result["operators"] == {"0": [None, "stateStoreSave"]}
    assert "spark.sql.streaming.stateStore.providerClass" in result["settings"]
    shown = holdfast("diff", str(left), str(right))
    assert "Two different queries" in shown.out
    assert shown.fits(80)


def test_damage_on_one_side_is_told(tmp_path: Path) -> None:
    """The comparison is incomplete then: status 3."""
    left, right = twins(tmp_path)
    (right / "offsets" / "1").write_bytes(b"")
    answered = holdfast("diff", str(left), str(right), "--json")
    assert answered.status == 3
    assert [one["code"] for one in answered.document["findings"]] == ["HF2101"]


def test_two_batches_of_one_checkpoint(tmp_path: Path) -> None:
    """How far the source got, and which rows of the state changed from what to what."""
    place = sample("aggregation-hdfs-snapshots", "4.3.0").extract(tmp_path)
    answered = holdfast("diff", str(place), "--from", "3", "--to", "8", "--json")
    assert answered.status == 0
    result = answered.document["result"]
    assert (result["left"]["batch_id"], result["right"]["batch_id"]) == (3, 8)
    assert result["sources"][0]["amount"]["total"] == 5
    (store,) = result["stores"]
    numbers = [store[name] for name in ("left_rows", "right_rows", "added", "changed", "removed")]
    assert numbers == [4, 4, 0, 4, 0]
    assert store["complete"] is True
    birch = next(row for row in store["rows"] if row["right"]["key"] == {"key": "birch"})
    assert birch["change"] == "changed"
    assert birch["left"]["value"] == {"count": 4, "sum": 64}
    assert birch["right"]["value"] == {"count": 9, "sum": 369}
    text = holdfast("diff", str(place), "--from", "3", "--to", "8").out
    assert "From batch 3 to batch 8" in text
    assert "~  key=birch  count=4, sum=64 -> count=9, sum=369" in text
    assert max(len(line) for line in text.splitlines()) <= 80


def test_without_batches_the_newest_one_is_told(tmp_path: Path) -> None:
    """Against the one before it; rows beyond the limit are counted and not shown."""
    place = sample("aggregation-rocksdb-changelog", "4.3.0").extract(tmp_path)
    result = holdfast("diff", str(place), "--to", "4", "--limit", "1", "--json").document["result"]
    assert (result["left"]["batch_id"], result["right"]["batch_id"]) == (3, 4)
    (store,) = result["stores"]
    assert [store[name] for name in ("added", "changed", "removed")] == [4, 0, 4]
    assert [row["change"] for row in store["rows"]] == ["added", "removed"]
    assert [row["left"] is None for row in store["rows"]] == [True, False]
    assert store["complete"] is False
    newest = holdfast("diff", str(place), "--json").document["result"]
    assert (newest["left"]["batch_id"], newest["right"]["batch_id"]) == (4, 5)
    assert "more (--limit, --json)" in holdfast("diff", str(place), "--to", "4", "--limit", "1").out


def test_batches_that_are_not_there_are_refused(tmp_path: Path) -> None:
    """With those that are (HF2791)."""
    place = sample("aggregation-hdfs-snapshots", "4.3.0").extract(tmp_path)
    for options in (("--from", "99"), ("--to", "99"), ("--to", "0")):
        answered = holdfast("diff", str(place), *options, "--json")
        assert answered.status == 2
        assert answered.document["error"]["code"] == "HF2791"


def test_one_store_can_be_chosen(tmp_path: Path) -> None:
    """Without a choice every store of every operator is compared, bookkeeping left out."""
    place = sample("transform-pandas-timers", "4.3.0").extract(tmp_path)
    every = holdfast("diff", str(place), "--json").document["result"]["stores"]
    assert {store["store"] for store in every} == {"total", "values", "by_parity", "timers"}
    only = holdfast("diff", str(place), "--store", "values", "--json").document["result"]["stores"]
    assert only == [store for store in every if store["store"] == "values"]
    own = holdfast("diff", str(place), "--store", "$rowCounter_values", "--json").document
    assert [store["store"] for store in own["result"]["stores"]] == ["$rowCounter_values"]
    for wrong in (("--store", "nobody"), ("--operator", "7")):
        answered = holdfast("diff", str(place), *wrong, "--json")
        assert answered.document["status"] == "error"


def test_two_checkpoints_are_compared_with_their_states(tmp_path: Path) -> None:
    """At the newest batch of each, or at those that are asked for; or the logs alone."""
    left, right = twins(tmp_path, "aggregation-hdfs-snapshots")
    same = holdfast("diff", str(left), str(right), "--json").document["result"]
    assert same["identical"] is True
    assert [store["left_rows"] for store in same["stores"]] == [4]
    assert "The logs and the state are identical" in holdfast("diff", str(left), str(right)).out
    older = holdfast("diff", str(left), str(right), "--from", "2", "--json").document["result"]
    assert older["identical"] is False
    assert (older["left"]["batch_id"], older["right"]["batch_id"]) == (2, 8)
    assert older["stores"][0]["changed"] == 4
    logs = holdfast("diff", str(left), str(right), "--logs-only", "--json").document["result"]
    assert (logs["stores"], logs["identical"]) == ([], True)


def test_stores_of_other_columns_are_not_compared(tmp_path: Path) -> None:
    """Every row would differ; so is a store that one side has alone."""
    left = sample("aggregation-hdfs-lz4", "4.3.0").extract(tmp_path / "left")
    right = sample("join", "4.3.0").extract(tmp_path / "right")
    totals = sample("aggregation-hdfs-snapshots", "4.3.0").extract(tmp_path / "totals")
    (store,) = holdfast("diff", str(left), str(totals), "--json").document["result"]["stores"]
    assert store["not_compared"] == "the columns of its rows differ"
    stores = holdfast("diff", str(left), str(right), "--json").document["result"]["stores"]
    told = {store["store"]: store["not_compared"] for store in stores}
    assert told["default"] == "it exists only on the left"
    assert told["left-keyToNumValues"] == "it exists only on the right"


def test_state_that_can_not_be_loaded_is_told_and_the_logs_are_compared(tmp_path: Path) -> None:
    """As a finding, with the place."""
    left, right = twins(tmp_path, "aggregation-hdfs-lz4")
    for path in right.glob("state/0/0/*4.delta*"):
        path.unlink()
    answered = holdfast("diff", str(left), str(right), "--json")
    assert answered.status == 3
    result = answered.document["result"]
    assert result["offsets"]["different"] == []
    assert "4.delta is missing" in result["stores"][0]["not_compared"]
    assert result["identical"] is False
    (finding,) = answered.document["findings"]
    assert finding["at"].endswith("right/state/0/0/4.delta")


def test_a_stateless_query_has_batches_too(tmp_path: Path) -> None:
    """What its sources took in between."""
    place = sample("stateless", "4.3.0").extract(tmp_path)
    result = holdfast("diff", str(place), "--from", "0", "--json").document["result"]
    assert result["stores"] == []
    assert result["sources"][0]["amount"]["total"] == 3


def test_damage_of_the_second_names_the_second(tmp_path: Path) -> None:
    """What to do about it is to be done there."""
    for damaged in (0, 1):
        root = tmp_path / str(damaged)
        root.mkdir()
        both = twins(root, "aggregation-hdfs-lz4")
        torn = both[damaged] / "state/0/0/6.delta"
        torn.write_bytes(torn.read_bytes()[:20])
        shown = holdfast("diff", str(both[0]), str(both[1]), "--json")
        told = shown.document["findings"]
        steps = [step for one in told for step in one["next"] if "holdfast " in step]
        assert steps and all(str(both[damaged]) in step for step in steps), steps
