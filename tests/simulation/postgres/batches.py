"""The batches of the simulated query: what is in them, and what a table holds after some of them.

Plans have versions: after a take-back Spark may plan a batch id again, with different offsets.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Row = tuple[int, str]


@dataclass(frozen=True)
class PlannedBatch:
    """One batch as Spark planned it."""

    batch_id: int
    version: str
    mode: str

    @property
    def digest(self) -> str:
        """Return what stands for its offsets."""
        return f"{self.version}{self.batch_id}"

    @property
    def rows(self) -> list[Row]:
        """Return its rows: an upsert meets a key again, a complete batch has everything so far."""
        if self.mode == "append":
            return [(self.batch_id * 10 + place, f"{self.digest}.{place}") for place in range(2)]
        if self.mode == "upsert":
            return [(0, self.digest), (self.batch_id + 1, self.digest)]
        return [(key, self.digest) for key in range(self.batch_id + 1)]


def table_after(batches: Iterable[PlannedBatch]) -> list[Row]:
    """Return what a table holds after these batches, each once, in the order of their ids."""
    ordered = sorted(batches, key=lambda one: one.batch_id)
    if not ordered:
        return []
    if ordered[-1].mode == "append":
        return sorted(row for one in ordered for row in one.rows)
    if ordered[-1].mode == "upsert":
        return sorted(dict(row for one in ordered for row in one.rows).items())
    return sorted(ordered[-1].rows)


class StandInBatch:
    """What the sink takes for Spark's rows."""

    def __init__(self, planned: PlannedBatch) -> None:
        self.planned = planned

    @cached_property
    def schema(self) -> Any:
        """Return the columns as Spark describes them."""
        from pyspark.sql.types import LongType, StringType, StructField, StructType

        return StructType([StructField("k", LongType()), StructField("v", StringType())])

    def arrow(self) -> Any:
        """Return the rows as an executor gets them."""
        import pyarrow

        keys, values = zip(*self.planned.rows, strict=True)
        return pyarrow.RecordBatch.from_arrays(
            [pyarrow.array(keys, pyarrow.int64()), pyarrow.array(values, pyarrow.string())],
            names=["c0", "c1"],
        )
