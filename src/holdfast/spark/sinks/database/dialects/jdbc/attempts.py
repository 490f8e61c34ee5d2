"""Marks staged rows with the task attempt that computed them, and finds which attempts won.

Spark's JDBC writer commits for each partition, and returns nothing from its tasks. A task that is
retried or speculated may have committed its rows already, so counting rows can't tell whose they
are: two attempts of one partition may even differ. Each row therefore carries the number of its
task attempt, and an accumulator brings the numbers of the winners to the driver: Spark merges the
updates of an action's task once, for the attempt whose result it takes. Only the constant that the
number is made from passes through Python; the rows themselves do not.

Executors import this module: it needs little.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.accumulators import AccumulatorParam

if TYPE_CHECKING:
    from pyspark.sql import Column, SparkSession

Counts = dict[tuple[str, int], int]


class AttemptCounts(AccumulatorParam[Counts]):
    """Adds up rows by staging table and task attempt."""

    def zero(self, value: Counts) -> Counts:  # noqa: ARG002 - what Spark calls
        """Begin with nothing."""
        return {}

    def addInPlace(self, value1: Counts, value2: Counts) -> Counts:  # noqa: N802 - what Spark calls
        """Add what one task counted."""
        for key, rows in value2.items():
            value1[key] = value1.get(key, 0) + rows
        return value1


class AttemptCounter:
    """Counts the rows of every attempt that wins; one serves all batches of a sink."""

    def __init__(self, session: SparkSession) -> None:
        self._counts = session.sparkContext.accumulator({}, AttemptCounts())

    def forget(self) -> None:
        """Forget the attempts of batches before."""
        self._counts.value = {}

    def winners(self, staging: str) -> dict[int, int]:
        """Return the attempts that loaded this table and won, with their rows."""
        # A task of a batch before may end late; its rows are not in this table.
        return {key[1]: rows for key, rows in self._counts.value.items() if key[0] == staging}

    def number(self, staging: str) -> Column:
        """Return a column that holds the number of the attempt that computes its row."""
        import pandas
        from pyspark.sql import functions
        from pyspark.sql.pandas.functions import pandas_udf

        counts = self._counts

        def mark(batches: Any) -> Any:
            from pyspark import TaskContext

            context = TaskContext.get()
            attempt = 0 if context is None else context.taskAttemptId()
            for batch in batches:
                if len(batch):
                    counts.add({(staging, attempt): len(batch)})
                yield pandas.Series([attempt] * len(batch), dtype="int64")

        series = Iterator[pandas.Series]
        mark.__annotations__ = {"batches": series, "return": series}
        as_column: Any = pandas_udf
        column: Column = as_column(mark, "long").asNondeterministic()(functions.lit(0))
        return column
