"""Counts the lake against the lines that arrived, with a reader that is not Spark."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timezone
from pathlib import Path
from typing import Any

from holdfast.demonstration.readings import Expected
from holdfast.errors import UsageError
from holdfast.installing import pip_line
from holdfast.plurals import counted


@dataclass(frozen=True)
class Count:
    """One table against what it must hold."""

    table: str
    expected: int
    found: int
    lost: int
    doubled: int
    """Rows too many: a second time, or not expected at all."""

    @property
    def sentence(self) -> str:
        """Say it in words."""
        wrong = f"{self.lost} lost, {self.doubled} doubled"
        return f"{self.table}: {counted(self.found, 'row')} for {self.expected:,} expected, {wrong}"


def count_lake(lake: Path, expected: Expected) -> tuple[Count, ...]:
    """Compare every table of the lake, row by row."""
    raw = Counter(row["line"] for row in _rows(lake / "raw"))
    quarantine = Counter(row["line"] for row in _rows(lake / "quarantine"))
    readings = Counter(
        (row["sensor_id"], _hour(row["read_at"]), row["value"]) for row in _rows(lake / "readings")
    )
    gold = Counter(
        (row["sensor_id"], _hour(row["hour"]), row["readings"], row["total"])
        for row in _rows(lake / "gold")
    )
    single = Counter(
        (sensor, hour, value) for (sensor, hour), values in expected.hours.items()
        for value in values
    )  # fmt: skip
    summed = Counter(
        (sensor, hour, len(values), sum(values))
        for (sensor, hour), values in expected.hours.items()
    )
    return (
        _count("raw", expected.lines, raw),
        _count("readings", single, readings),
        _count("quarantine", expected.broken, quarantine),
        _count("gold", summed, gold),
    )


def _count(table: str, expected: Counter[Any], found: Counter[Any]) -> Count:
    lost, doubled = expected - found, found - expected
    return Count(table, expected.total(), found.total(), lost.total(), doubled.total())


def _hour(moment: Any) -> Any:
    return moment.astimezone(timezone.utc).replace(minute=0, second=0, microsecond=0)


def _rows(table: Path) -> Iterable[dict[str, Any]]:
    try:
        from deltalake import DeltaTable
    except ImportError as error:
        message = "the demonstration counts with deltalake, which is not installed"
        steps = (pip_line("demo"),)
        raise UsageError("HF1001", message, next_steps=steps) from error
    rows: list[dict[str, Any]] = DeltaTable(str(table)).to_pyarrow_table().to_pylist()
    return rows
