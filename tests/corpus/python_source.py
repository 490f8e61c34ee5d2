"""A Python data source that gives four numbers per batch, twelve in all."""

# The names of methods are pyspark's.
# ruff: noqa: N802

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

STEP, END = 4, 12
NOTE = 'a "quoted" ü'


class Range(InputPartition):
    """The numbers of one batch."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__((start, end))
        self.start, self.end = start, end


class NumbersReader(DataSourceStreamReader):
    """Advances by four numbers at every question."""

    def __init__(self) -> None:
        self.end = 0

    def initialOffset(self) -> dict[str, Any]:
        """Starts at 0."""
        return {"number": 0, "note": NOTE}

    def latestOffset(self, *arguments: Any, **options: Any) -> dict[str, Any]:
        """Returns the end of the next batch; Spark gives arguments since 4.2."""
        self.end = min(self.end + STEP, END)
        return {"number": self.end, "note": NOTE}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        """Plans one partition per batch."""
        return [Range(start["number"], end["number"])]

    def read(self, partition: InputPartition) -> Iterator[tuple[int]]:
        """Yields the numbers."""
        assert isinstance(partition, Range)
        yield from ((number,) for number in range(partition.start, partition.end))

    def commit(self, end: dict[str, Any]) -> None:
        """Has nothing to release."""


class Numbers(DataSource):
    """The source, registered as `numbers`."""

    @classmethod
    def name(cls) -> str:
        """Returns the name for `format`."""
        return "numbers"

    def schema(self) -> str:
        """Returns the one column."""
        return "number int"

    def streamReader(self, schema: object) -> NumbersReader:
        """Returns the reader."""
        return NumbersReader()
