"""Makes sensor readings, and counts the lake against them with a reader that is not Spark."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from holdfast.errors import UsageError
from holdfast.wording import counted, pip_line

SENSORS = 12
_BEGINNING = datetime(2026, 3, 1, tzinfo=timezone.utc)
_BROKEN = (
    '{"sensor_id": "s-01", "read_at": "2026-03-',
    "battery low",
    '{"read_at": "2026-03-01T10:15:00Z", "value": 3.25}',
    '{"sensor_id": "s-07", "value": 21.5}',
    '{"sensor_id": "s-09", "read_at": "2026-03-01T11:00:00Z", "value": "n/a"}',
)


@dataclass
class Expected:
    """What the lake must hold, counted from the lines themselves and not by Spark."""

    lines: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    hours: dict[tuple[str, datetime], list[float]] = field(default_factory=dict)

    @property
    def readings(self) -> int:
        """How many lines are readings."""
        return self.lines.total() - self.broken.total()


class Sensors:
    """Writes files of readings, the same for the same seed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._random = random.Random(seed)
        self._files = 0
        self.expected = Expected()

    def write(self, files: int, lines: int) -> None:
        """Let more files arrive, each whole at once."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for _ in range(files):
            text = "".join(f"{self._line()}\n" for _ in range(lines))
            arriving = self._folder / f".part-{self._files:05d}"
            arriving.write_text(text, encoding="utf-8")
            arriving.rename(self._folder / f"part-{self._files:05d}.jsonl")
            self._files += 1

    def _line(self) -> str:
        if self._random.random() < 0.02:
            line = self._random.choice(_BROKEN)
            self.expected.broken[line] += 1
        else:
            line = self._reading()
        self.expected.lines[line] += 1
        return line

    def _reading(self) -> str:
        sensor = f"s-{self._random.randrange(SENSORS):02d}"
        moment = _BEGINNING + timedelta(seconds=self._random.randrange(24 * 3600))
        # Quarters are exact in binary: sums compare equal in whatever order they were made.
        value = self._random.randrange(400) / 4
        hour = moment.replace(minute=0, second=0)
        self.expected.hours.setdefault((sensor, hour), []).append(value)
        moment_text = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
        return json.dumps({"sensor_id": sensor, "read_at": moment_text, "value": value})


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
        wrong = f"{self.lost} lost, {self.doubled} duplicated"
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
