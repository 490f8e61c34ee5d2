"""Loads a batch into a staging table with Spark's own JDBC writer, all tasks at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.errors import SinkError
from holdfast.spark.sinks.database.dialect import StagedRows
from holdfast.spark.sinks.database.dialects.jdbc.attempts import AttemptCounter
from holdfast.spark.sinks.database.dialects.jdbc.connection import (
    H2,
    JdbcDatabase,
    failure_of,
    sql_exception_in,
    thrown_by,
)
from holdfast.spark.sinks.database.staging import ATTEMPT
from holdfast.spark.sinks.database.table import WrittenColumn, WrittenTable
from holdfast.spark.sinks.rowchecks import quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_H2_ROWS_AT_ONCE = "100"
"""H2 chains one error a row. Spark can't send a thousand of them: the task would hang for ever."""


class JdbcLoader:
    """Loads the batches of one sink."""

    def __init__(self, session: SparkSession, database: JdbcDatabase) -> None:
        self._database = database
        self._attempts = AttemptCounter(session)

    def load(
        self,
        rows: DataFrame,
        table: WrittenTable,
        staging: str,
        columns: Sequence[WrittenColumn],
        *,
        at: str | None,
    ) -> StagedRows:
        """Load the rows; raise SinkError where the database refuses them or can't be reached."""
        from pyspark.sql import functions

        self._attempts.forget()
        spelled = table.beside(staging)
        marked = rows.select(
            self._attempts.number(spelled).alias(table.spelling.folded(ATTEMPT)),
            *(functions.col(quoted(one.name)).alias(one.staged_name) for one in columns),
        )
        try:
            marked.write.format("jdbc").options(**self._options(spelled)).mode("append").save()
        except (PySparkException, Py4JError) as error:
            failed = _failure_of_task(thrown_by(error), at)
            if failed is None:
                raise
            raise failed from error
        winners = self._attempts.winners(spelled)
        return StagedRows(tuple(sorted(winners)), sum(winners.values()))

    def _options(self, staging: str) -> dict[str, str]:
        options = {**self._database.options, "dbtable": staging}
        given = {name.lower() for name in options}
        if self._database.url.startswith(H2) and "batchsize" not in given:
            options["batchsize"] = _H2_ROWS_AT_ONCE
        return options


def _failure_of_task(thrown: Any | None, at: str | None) -> SinkError | None:
    """Return the sink's error where a task failed for the database's sake."""
    if thrown is None or sql_exception_in(thrown) is None:
        return None
    failure = failure_of(thrown)
    code = "HF5071" if failure.lost or failure.contended else "HF5072"
    return SinkError(code, f"a task could not load its rows: {failure.words}", at=at)
