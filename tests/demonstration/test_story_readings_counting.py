"""The count finds every row that is lost or doubled: it is no decoration."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake

from holdfast.demonstration.story import Count, Expected, Sensors, count_lake

TABLES = ("raw", "readings", "quarantine", "gold")


def rows_of(expected: Expected) -> dict[str, list[dict[str, Any]]]:
    """Give what a faultless lake holds."""
    return {
        "raw": [{"line": line} for line in expected.lines.elements()],
        "quarantine": [{"line": line} for line in expected.broken.elements()],
        "readings": [
            {"sensor_id": sensor, "read_at": hour, "value": value}
            for (sensor, hour), values in expected.hours.items()
            for value in values
        ],
        "gold": [
            {"sensor_id": sensor, "hour": hour, "readings": len(values), "total": sum(values)}
            for (sensor, hour), values in expected.hours.items()
        ],
    }


@pytest.fixture
def expected(tmp_path: Path) -> Expected:
    """Let some readings arrive."""
    sensors = Sensors(tmp_path / "incoming", seed=7)
    sensors.write(files=2, lines=150)
    assert sensors.expected.lines.total() == 300 and sensors.expected.broken.total() > 0
    return sensors.expected


def counted(
    tmp_path: Path, rows: dict[str, list[dict[str, Any]]], expected: Expected
) -> dict[str, Count]:
    """Write the lake and count it."""
    for name, content in rows.items():
        write_deltalake(str(tmp_path / "lake" / name), pa.Table.from_pylist(content))
    return {count.table: count for count in count_lake(tmp_path / "lake", expected)}


def test_a_faultless_lake_is_acquitted(tmp_path: Path, expected: Expected) -> None:
    """Every table has what it must have."""
    counts = counted(tmp_path, rows_of(expected), expected)
    assert {(one.lost, one.doubled) for one in counts.values()} == {(0, 0)}
    assert counts["raw"].found == 300
    assert counts["readings"].found + counts["quarantine"].found == 300


@pytest.mark.parametrize("table", TABLES)
def test_a_lost_row_is_found(tmp_path: Path, expected: Expected, table: str) -> None:
    """In whichever table."""
    rows = rows_of(expected)
    rows[table].pop()
    count = counted(tmp_path, rows, expected)[table]
    assert (count.lost, count.doubled) == (1, 0)


@pytest.mark.parametrize("table", TABLES)
def test_a_doubled_row_is_found(tmp_path: Path, expected: Expected, table: str) -> None:
    """In whichever table."""
    rows = rows_of(expected)
    rows[table].append(rows[table][0])
    count = counted(tmp_path, rows, expected)[table]
    assert (count.lost, count.doubled) == (0, 1)


def test_a_wrong_sum_is_a_row_lost_and_a_row_too_many(tmp_path: Path, expected: Expected) -> None:
    """An hour that was merged twice."""
    rows = rows_of(expected)
    rows["gold"][0]["total"] += rows["gold"][0]["total"] + 1
    count = counted(tmp_path, rows, expected)["gold"]
    assert (count.lost, count.doubled) == (1, 1)


def test_the_same_seed_gives_the_same_lines(tmp_path: Path) -> None:
    """So that a failing demonstration can be repeated."""
    first, second = Sensors(tmp_path / "a", 3), Sensors(tmp_path / "b", 3)
    first.write(1, 50)
    second.write(1, 50)
    assert first.expected.lines == second.expected.lines
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["part-00000.jsonl"]
