"""Files of rows: whole or not there, read back by others as the same rows."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

from holdfast.errors import HoldfastError, UsageError
from holdfast.state.query import exporting
from holdfast.state.query.exporting import write_rows
from holdfast.state.query.question import Question, write_file
from holdfast.storage.memory import MemoryReader
from tests.corpus.loading import Sample, corpus
from tests.state.asked import files_of, rows_shown
from tests.state.states import rows_of, view_of

STORES = [one for one in corpus() if one.spark == "4.3.0" and one.facts.get("state")]
SOME = ("types", "join", "limit", "many-columns", "aggregation-complete", "transform-pandas-timers")


def written(files: dict[str, bytes], path: Path, limit: int | None = None, **asked: Any) -> Any:
    """Write the rows of a sample, and give what is told of the file."""
    reader, question = MemoryReader(files), Question(**asked)
    answer = write_file(reader, question, path, limit=limit, checkpoint=None)
    return answer.result


@pytest.mark.parametrize("one", STORES, ids=str)
def test_parquet_holds_the_same_rows_and_types(one: Sample, tmp_path: Path) -> None:
    """For every store of the corpus."""
    files = dict(one.files())
    view = view_of(files)
    result = written(files, tmp_path / "rows.parquet")
    table = pa.parquet.read_table(tmp_path / "rows.parquet")
    assert table.schema.equals(view.schema)
    batches = list(view.batches())
    assert table.equals(pa.Table.from_batches(batches, view.schema))
    assert result.total == result.output.rows == len(table)
    assert result.output.size_bytes == (tmp_path / "rows.parquet").stat().st_size


@pytest.mark.parametrize("name", SOME)
def test_json_lines_are_the_rows_that_are_shown(name: str, tmp_path: Path) -> None:
    """One object a line."""
    files = files_of(name)
    written(files, tmp_path / "rows.jsonl")
    lines = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    shown = rows_shown(files).result.rows
    assert [json.loads(line)["key"] for line in lines] == [row.key for row in shown]
    assert [json.loads(line)["value"] for line in lines] == [row.value for row in shown]


@pytest.mark.parametrize("name", SOME)
def test_csv_has_a_column_for_each_that_is_no_struct(name: str, tmp_path: Path) -> None:
    """By its full name."""
    files = files_of(name)
    written(files, tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.reader(file))
    result = rows_shown(files).result
    assert table[0] == [column.name for column in result.columns]
    assert len(table) - 1 == result.total


def test_csv_tells_values_as_they_are_shown(tmp_path: Path) -> None:
    """Lists and maps as JSON, nothing for null."""
    written(files_of("types"), tmp_path / "rows.csv", limit=2)
    with (tmp_path / "rows.csv").open(encoding="utf-8", newline="") as file:
        first, second = csv.DictReader(file)
    assert first["key.a_string"] == ""
    assert first["key.a_wide_decimal"] == "0.000000"
    assert second["key.a_timestamp"] == "2026-01-01T00:00:01Z"
    assert second["key.a_year_interval"] == "-P11M"
    assert second["key.a_struct.inner_key"] == "birch"
    assert json.loads(second["key.an_array"]) == [1, None, 2]
    assert json.loads(second["value.first"]) == {"birch": [1], "fixed": [None]}


def test_a_limit_and_a_condition_hold_for_files_too(tmp_path: Path) -> None:
    """A file that was cut is not complete."""
    files = files_of("aggregation-hdfs-lz4")
    cut = written(files, tmp_path / "cut.jsonl", limit=3)
    assert (cut.output.rows, cut.total, cut.complete) == (3, None, False)
    fitting = written(files, tmp_path / "fitting.jsonl", where="count = 2")
    assert (fitting.output.rows, fitting.total, fitting.complete) == (4, 4, True)
    roomy = written(files, tmp_path / "roomy.jsonl", limit=8)
    assert (roomy.output.rows, roomy.total, roomy.complete) == (8, 8, True)


def test_a_limit_spans_partitions(tmp_path: Path) -> None:
    """Six rows of the first, one of the second."""
    written(files_of("types"), tmp_path / "rows.jsonl", limit=7)
    lines = (tmp_path / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["partition"] for line in lines] == [0] * 6 + [1]


def test_no_row_is_a_file_with_columns(tmp_path: Path) -> None:
    """And no rows."""
    for ending in exporting.FORMATS:
        result = written(files_of("join"), tmp_path / f"none.{ending}", where="index = 99")
        assert (result.output.rows, result.total) == (0, 0)
    assert pa.parquet.read_table(tmp_path / "none.parquet").num_columns == 3
    assert (tmp_path / "none.csv").read_text().startswith('"partition"')
    assert (tmp_path / "none.jsonl").read_bytes() == b""


@pytest.mark.parametrize("ending", exporting.FORMATS)
def test_damage_on_the_way_leaves_the_old_file(ending: str, tmp_path: Path) -> None:
    """And nothing beside it."""
    place = tmp_path / f"rows.{ending}"
    place.write_bytes(b"before")
    files = files_of("aggregation-hdfs-lz4")
    for path in [one for one in files if one.endswith("/1/6.delta")]:
        files[path] = files[path][: len(files[path]) // 2]
    with pytest.raises(HoldfastError):
        written(files, place)
    assert place.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [place]


@pytest.mark.parametrize("ending", exporting.FORMATS)
def test_a_full_disk_is_told_and_leaves_nothing(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an error with a code."""

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HoldfastError) as failure:
        written(files_of("limit"), tmp_path / f"rows.{ending}")
    assert failure.value.code.number == "HF2774"
    assert "no space left on device" in failure.value.message
    assert list(tmp_path.iterdir()) == []


def test_a_type_that_a_format_does_not_know_is_told(tmp_path: Path) -> None:
    """Not as a traceback."""
    kind = pa.month_day_nano_interval()
    schema = pa.schema([("partition", pa.int32()), ("value", kind)])
    with pytest.raises(HoldfastError) as failure:
        write_rows([], schema, tmp_path / "rows.parquet")
    assert failure.value.code.number == "HF2774"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["rows", "rows.txt", "rows.parquet.gz", ".csv"])
def test_an_ending_that_is_no_format_is_refused(name: str, tmp_path: Path) -> None:
    """Before anything is read."""
    with pytest.raises(UsageError) as failure:
        written({}, tmp_path / name)
    assert failure.value.code.number == "HF2773"


def test_bad_places_are_refused_before_anything_is_read(tmp_path: Path) -> None:
    """Inside of the checkpoint, also through a link; no folder; a folder."""
    root = tmp_path / "checkpoint"
    (root / "state").mkdir(parents=True)
    (tmp_path / "link").symlink_to(root / "state")
    (tmp_path / "folder.csv").mkdir()
    for place in ("checkpoint/rows.csv", "link/rows.csv", "nowhere/rows.csv", "folder.csv"):
        with pytest.raises(UsageError) as failure:
            write_file(MemoryReader({}), Question(), tmp_path / place, limit=None, checkpoint=root)
        assert failure.value.code.number == "HF1006"


def test_rows_are_written_as_they_come(tmp_path: Path) -> None:
    """The first batch is in the file's folder before the second is asked for."""
    view = view_of(files_of("types"))
    (batch, *_) = view.batches()
    seen: list[list[str]] = []

    def batches() -> Iterator[pa.RecordBatch]:
        for _ in range(2):
            seen.append([path.name for path in tmp_path.iterdir()])
            yield batch

    write_rows(batches(), view.schema, tmp_path / "rows.jsonl")
    assert len(seen) == 2
    assert all(names[0].startswith(".rows.jsonl.") for names in seen)
    assert [path.name for path in tmp_path.iterdir()] == ["rows.jsonl"]


def test_progress_grows_with_the_partitions(tmp_path: Path) -> None:
    """By the size of their files."""
    told: list[tuple[int, int]] = []
    files = files_of("types")
    reader = MemoryReader(files)
    write_file(
        reader,
        Question(),
        tmp_path / "rows.csv",
        limit=None,
        checkpoint=None,
        progress=lambda done, total: told.append((done, total)),
    )
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    assert 0 < told[-1][0] < told[-1][1]
    assert len(rows_of(view_of(files))) == 8
