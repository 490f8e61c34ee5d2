"""Functions and classes of a user that fail: foreach, sources in Python, listeners, UDFs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import lines, run, texts

LISTENERS = "spark.sql.streaming.streamingQueryListeners"


@provokes("foreach-failed")
def foreach_row(spark: Any, folder: Path) -> None:
    def deliver(row: Any) -> None:
        raise ValueError("the ledger is closed")

    writer = texts(spark, lines(folder)).writeStream.foreach(deliver)
    writer.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()


@provokes("stream-failed")
def function_in_stream(spark: Any, folder: Path) -> None:
    from pyspark.sql.functions import expr

    stream = texts(spark, lines(folder)).select(expr("raise_error('the ledger is closed')"))
    run(stream, folder)


def _source(spark: Any, fail_in: str) -> Any:
    """Give a stream of a Python data source, one of whose methods fails."""
    from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition

    def reach(method: str) -> None:
        if method == fail_in:
            raise ValueError("the ledger is closed")

    class Reader(DataSourceStreamReader):
        def initialOffset(self) -> dict[str, Any]:  # noqa: N802
            return {"number": 0}

        def latestOffset(self, *arguments: Any, **options: Any) -> dict[str, Any]:  # noqa: N802
            reach("latestOffset")
            return {"number": 4}

        def partitions(self, start: Any, end: Any) -> Any:
            reach("partitions")
            return [InputPartition(0)]

        def read(self, partition: Any) -> Iterator[tuple[int]]:
            yield (1,)

    class Source(DataSource):
        @classmethod
        def name(cls) -> str:
            return f"ledger_{fail_in.lower()}"

        def schema(self) -> str:
            return "value int"

        def streamReader(self, schema: Any) -> Any:  # noqa: N802
            reach("streamReader")
            return Reader()

    spark.dataSource.register(Source)
    return spark.readStream.format(Source.name()).load()


@provokes("python-source-failed", since="4.0")
def python_source_offset(spark: Any, folder: Path) -> None:
    run(_source(spark, "latestOffset"), folder)


@provokes("python-source-failed", since="4.0")
def python_source_partitions(spark: Any, folder: Path) -> None:
    run(_source(spark, "partitions"), folder)


@provokes("python-source-failed", since="4.0")
def python_source_reader(spark: Any, folder: Path) -> None:
    run(_source(spark, "streamReader"), folder)


@provokes("listener-failed")
def listener_class_missing(spark: Any, folder: Path) -> None:
    settings = spark.sparkContext._jsc.sc().conf()
    settings.set(LISTENERS, "org.example.Missing")
    try:
        run(texts(spark.newSession(), lines(folder)), folder)
    finally:
        settings.remove(LISTENERS)
