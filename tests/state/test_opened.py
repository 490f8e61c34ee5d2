"""The state for programs: an Arrow reader, its errors, and what is missing for it."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import holdfast
from holdfast.errors import HoldfastError, UsageError
from holdfast.state import opened
from holdfast.state.query import question
from tests.corpus.loading import sample


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A real checkpoint."""
    return sample("aggregation-hdfs-lz4", "4.3.0").extract(tmp_path)


def test_an_arrow_reader(place: Path) -> None:
    """With the schema before a row is read."""
    opened = holdfast.open_checkpoint(place)
    reader = opened.state(where="count = 2", batch=5)
    assert isinstance(reader.reader, pa.RecordBatchReader)
    assert reader.schema.names == ["partition", "key", "value"]
    assert reader.read_all().num_rows == 4
    assert opened.location == str(place)


def test_a_key(place: Path) -> None:
    """Only what is asked for."""
    rows = holdfast.open_checkpoint(str(place)).state(key={"key": "birch"}).read_all()
    assert {row["key"]["key"] for row in rows.to_pylist()} == {"birch"}


def test_duckdb_reads_it_as_a_table(place: Path) -> None:
    """Without a copy of all rows."""
    state = holdfast.open_checkpoint(place).state()
    found = duckdb.from_arrow(state).aggregate("key.key, sum(value.count) as n", "key.key")
    assert sorted(found.fetchall(), key=str) == [("alder", 3), ("birch", 3), ("çam", 3), (None, 3)]


def test_tables_of_each_library(place: Path) -> None:
    """The same rows, with a column for each field; the schema also where there is no row."""
    columns = [one.name for one in holdfast.read_state(place).result.columns]
    answer = holdfast.read_state(place, where="count = 2", batch=5)
    opened = holdfast.open_checkpoint(place)
    reads = (lambda: answer, lambda: opened.state(where="count = 2", batch=5))
    for read in reads:
        table, frame, polar = read().to_arrow(), read().to_pandas(), read().to_polars()
        assert table.schema.names == ["partition", "key", "value"]
        assert list(frame.columns) == polar.columns == columns
        assert table.num_rows == len(frame) == polar.height == 4
        keys = [row["key"]["key"] for row in table.to_pylist()]
        assert frame["key.key"].to_list() == polar["key.key"].to_list() == keys
        assert set(frame["value.count"]) == {2}
    none = holdfast.read_state(place, where="count = 77")
    assert list(none.to_pandas().columns) == columns and none.to_polars().height == 0
    assert next(iter(opened.state())).num_rows == opened.state().read_next_batch().num_rows


def test_a_table_has_all_rows_unless_a_limit_is_given(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is shown ends early; a table must not end there unnoticed."""
    monkeypatch.setattr(question, "FIRST_ROWS", 2)
    answer = holdfast.read_state(place)
    assert len(answer.result.rows) == 2 and not answer.result.complete
    assert answer.to_arrow().num_rows == answer.result.total == len(answer.to_pandas())
    assert holdfast.read_state(place, limit=3).to_polars().height == 3


def test_what_was_written_or_summed_up_is_no_table(place: Path, tmp_path: Path) -> None:
    """And a library that is missing is named with the line that installs it."""
    for asked in ({"summary": True}, {"output": tmp_path / "rows.csv"}):
        with pytest.raises(UsageError, match="written to a file, or summarized"):
            holdfast.read_state(place, **asked).to_pandas()


def test_a_missing_frame_library_is_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the line that installs it; Arrow is still there."""
    found = {"pandas": None, "polars": None}
    monkeypatch.setattr(opened, "find_spec", lambda name: found.get(name, importlib.util.find_spec))
    answer = holdfast.read_state(place)
    for make, library in ((answer.to_pandas, "pandas"), (answer.to_polars, "polars")):
        with pytest.raises(UsageError, match=f"requires {library}, which is not") as failure:
            make()
        assert failure.value.code.number == "HF2770"
        assert failure.value.next_steps[0].startswith("pip install ")
        assert library in failure.value.next_steps[0]
    assert answer.to_arrow().num_rows > 0


def test_damage_while_reading_is_our_error(place: Path) -> None:
    """It passes through Arrow as it is."""
    file = place / "state" / "0" / "1" / "6.delta"
    file.write_bytes(file.read_bytes()[:20])
    reader = holdfast.open_checkpoint(place).state()
    with pytest.raises(HoldfastError) as failure:
        reader.read_all()
    assert "6.delta" in str(failure.value.at)


def test_what_is_not_there_is_told_at_once(place: Path) -> None:
    """Not while rows are read."""
    opened = holdfast.open_checkpoint(place)
    with pytest.raises(UsageError):
        opened.state(where="nobody = 1")
    with pytest.raises(HoldfastError):
        holdfast.open_checkpoint(place / "nowhere").state()


def test_missing_libraries_are_named(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the command that installs them."""
    found = importlib.util.find_spec
    monkeypatch.setattr(
        opened, "find_spec", lambda name: None if name in ("xxhash", "pyarrow") else found(name)
    )
    for ask in (holdfast.read_state, lambda at: holdfast.open_checkpoint(at).state()):
        with pytest.raises(UsageError) as failure:
            ask(place)
        assert failure.value.code.number == "HF2770"
        assert failure.value.message == (
            "reading state requires pyarrow, xxhash, which are not installed"
        )
        assert failure.value.next_steps == ('pip install ".[state]" in a clone of Holdfast',)


@pytest.mark.parametrize(
    "program",
    [
        "import holdfast; holdfast.open_checkpoint('.')",
        "from holdfast.cli.commands.state import command",
        "from holdfast import StateRows, OpenedCheckpoint, read_state",
    ],
)
def test_nothing_heavy_is_imported_before_state_is_read(program: str) -> None:
    """Neither numpy nor pyarrow."""
    heavy = "assert not {'numpy', 'pyarrow', 'rocksdict'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", f"import sys; {program}; {heavy}"], check=True)
