"""transformWithState and its elders, with variables, times and schemas that Spark refuses."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import (
    PROVIDER,
    ROCKSDB,
    having,
    lines,
    run,
    texts,
)

STATE = "spark.sql.streaming.stateStore"
ENDING = {"spark.sql.streaming.noDataMicroBatches.enabled": "false"}
"""With timers Spark would run empty batches for ever."""
ROCKS = {PROVIDER: ROCKSDB, **ENDING}
AVRO = {**ROCKS, f"{STATE}.encodingFormat": "avro"}


def transformed(
    spark: Any,
    folder: Path,
    declare: Callable[[Any, Any], None],
    *,
    use: Callable[[Any], None] = lambda processor: None,
    mode: str = "None",
) -> None:
    """Run a stateful processor over a few more files."""
    import pandas
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Processor(StatefulProcessor):
        def init(self, handle: Any) -> None:
            self.handle = handle
            declare(self, handle)

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
            use(self)
            yield pandas.DataFrame({"value": [key[0]]})

        def close(self) -> None:
            pass

    grouped = texts(spark, lines(folder)).groupBy("value")
    made = grouped.transformWithStateInPandas(Processor(), "value string", "Update", mode)
    run(made, folder, mode="update")


def total(kind: str) -> Callable[[Any, Any], None]:
    """Declare one value of a type."""

    def declare(processor: Any, handle: Any) -> None:
        processor.total = handle.getValueState("total", kind)

    return declare


@provokes("tws-schema-evolution", since="4.0")
def variable_type_changed(spark: Any, folder: Path) -> None:
    with having(spark, AVRO):
        transformed(spark, folder, total("total string"))
        transformed(spark, folder, total("total int"))


@provokes("tws-too-many-evolutions", since="4.0")
def variable_widened_often(spark: Any, folder: Path) -> None:
    with having(spark, {**AVRO, f"{STATE}.valueStateSchemaEvolutionThreshold": "1"}):
        for kind in ("a int", "a int, b int", "a int, b int, c int"):
            transformed(spark, folder, total(kind))


@provokes("tws-too-many-schema-files", since="4.0")
def variables_added_often(spark: Any, folder: Path) -> None:
    with having(spark, {**AVRO, f"{STATE}.maxNumStateSchemaFiles": "2"}):
        for number in range(1, 5):

            def declare(processor: Any, handle: Any, number: int = number) -> None:
                processor.all = [handle.getValueState(f"v{at}", "a int") for at in range(number)]

            transformed(spark, folder, declare)


@provokes("tws-variable-kind", since="4.0")
def variable_kind_changed(spark: Any, folder: Path) -> None:
    def as_list(processor: Any, handle: Any) -> None:
        processor.total = handle.getListState("total", "total long")

    with having(spark, ROCKS):
        transformed(spark, folder, total("total long"))
        transformed(spark, folder, as_list)


@provokes("tws-setting-changed", since="4.0")
def time_mode_changed(spark: Any, folder: Path) -> None:
    with having(spark, ROCKS):
        transformed(spark, folder, total("total long"), mode="ProcessingTime")
        transformed(spark, folder, total("total long"), mode="None")


@provokes("tws-schema-nullable", since="4.0")
def variable_not_nullable(spark: Any, folder: Path) -> None:
    from pyspark.sql.types import LongType, StructField, StructType

    kind: Any = StructType([StructField("total", LongType(), nullable=False)])
    with having(spark, AVRO):
        transformed(spark, folder, total(kind))


@provokes("state-variable-twice", since="4.0")
def variable_twice(spark: Any, folder: Path) -> None:
    def declare(processor: Any, handle: Any) -> None:
        processor.both = [handle.getValueState("total", "total long") for _ in range(2)]

    with having(spark, ROCKS):
        transformed(spark, folder, declare)


@provokes("state-time-to-live", since="4.0")
def time_to_live_without_time(spark: Any, folder: Path) -> None:
    def declare(processor: Any, handle: Any) -> None:
        processor.total = handle.getValueState("total", "total long", 1000)

    with having(spark, ROCKS):
        transformed(spark, folder, declare)


@provokes("state-time-to-live", since="4.0")
def time_to_live_negative(spark: Any, folder: Path) -> None:
    def declare(processor: Any, handle: Any) -> None:
        processor.total = handle.getValueState("total", "total long", -1000)

    with having(spark, ROCKS):
        transformed(spark, folder, declare, mode="ProcessingTime")


@provokes("state-handle-misused", since="4.0")
def timer_while_declaring(spark: Any, folder: Path) -> None:
    def declare(processor: Any, handle: Any) -> None:
        handle.registerTimer(1_000_000)

    with having(spark, ROCKS):
        transformed(spark, folder, declare, mode="ProcessingTime")


@provokes("state-handle-misused", since="4.0")
def variable_declared_late(spark: Any, folder: Path) -> None:
    def use(processor: Any) -> None:
        processor.handle.getValueState("late", "total long")

    with having(spark, ROCKS):
        transformed(spark, folder, total("total long"), use=use)


@provokes("state-null-value", since="4.0")
def empty_list(spark: Any, folder: Path) -> None:
    def declare(processor: Any, handle: Any) -> None:
        processor.values = handle.getListState("values", "value long")

    with having(spark, ROCKS):
        transformed(spark, folder, declare, use=lambda one: one.values.put([]))


@provokes("state-handle-misused", since="4.0")
def variable_deleted_late(spark: Any, folder: Path) -> None:
    def use(processor: Any) -> None:
        processor.handle.deleteIfExists("total")
        processor.total.update((1,))

    with having(spark, ROCKS):
        transformed(spark, folder, total("total long"), use=use)


@provokes("python-runner-start", since="4.1")
def processor_raises_at_start(spark: Any, folder: Path) -> None:
    def declare(processor: Any, handle: Any) -> None:
        raise ValueError("the ledger is closed")

    with having(spark, ROCKS):
        transformed(spark, folder, declare)


@provokes("stateful-function-failed", since="4.0")
def processor_raises(spark: Any, folder: Path) -> None:
    def use(processor: Any) -> None:
        raise ValueError("the ledger is closed")

    with having(spark, ROCKS):
        transformed(spark, folder, total("total long"), use=use)


@provokes("late-rows-emitted", since="4.0")
def rows_older_than_the_watermark(spark: Any, folder: Path) -> None:
    import pandas
    from pyspark.sql.streaming.stateful_processor import StatefulProcessor

    class Late(StatefulProcessor):
        def init(self, handle: Any) -> None:
            pass

        def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
            yield pandas.DataFrame({"value": [key[0]], "at": [pandas.Timestamp(0)]})

        def close(self) -> None:
            pass

    timed = texts(spark, lines(folder)).selectExpr("value", "timestamp_seconds(9000) as at")
    grouped = timed.withWatermark("at", "1 second").groupBy("value")
    with having(spark, ROCKS):
        made = grouped.transformWithStateInPandas(
            Late(), "value string, at timestamp", "Append", "EventTime", eventTimeColumnName="at"
        )
        run(made.groupBy("at").count(), folder)


def _grouped(spark: Any, folder: Path, act: Callable[[Any], None], timeout: str) -> None:
    import pandas

    def function(key: Any, rows: Any, state: Any) -> Iterator[Any]:
        for _ in rows:
            pass
        act(state)
        yield pandas.DataFrame({"value": [key[0]]})

    stream = texts(spark, lines(folder)).groupBy("value")
    made = stream.applyInPandasWithState(function, "value string", "n long", "Update", timeout)
    with having(spark, ENDING):
        run(made, folder, mode="update")


@provokes("state-timeout-settings")
def timeout_without_timeouts(spark: Any, folder: Path) -> None:
    _grouped(spark, folder, lambda state: state.setTimeoutDuration(1000), "NoTimeout")


@provokes("state-timeout-settings")
def watermark_without_watermark(spark: Any, folder: Path) -> None:
    _grouped(spark, folder, lambda state: state.getCurrentWatermarkMs(), "ProcessingTimeTimeout")
