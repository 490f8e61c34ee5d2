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
    assert "The logs are the same" in holdfast("diff", str(left), str(right)).out


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
    assert max(len(line) for line in shown.out.splitlines()) <= 80


def test_damage_on_one_side_is_told(tmp_path: Path) -> None:
    """The comparison is incomplete then: status 3."""
    left, right = twins(tmp_path)
    (right / "offsets" / "1").write_bytes(b"")
    answered = holdfast("diff", str(left), str(right), "--json")
    assert answered.status == 3
    assert [one["code"] for one in answered.document["findings"]] == ["HF2101"]
