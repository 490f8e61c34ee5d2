"""Which output modes real Spark takes for which operators, and what evidence infers of them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.diagnosis.doctor.gathering import gathered
from tests.restarts.archive import read_folder

pytestmark = pytest.mark.spark

MODES = ("append", "update", "complete")


def _events(spark: Any, folder: Path) -> Any:
    place = folder / "in"
    place.mkdir(exist_ok=True)
    (place / "0.txt").write_text("a\nb\n", encoding="utf-8")
    lines = spark.readStream.format("text").load(str(place))
    timed = lines.selectExpr("value", "timestamp_seconds(1000) as at")
    return timed.withWatermark("at", "1 minute")


def _stateless(events: Any) -> Any:
    return events.select("value")


def _deduplicated(events: Any) -> Any:
    return events.dropDuplicates(["value"]).select("value")


def _deduplicated_within(events: Any) -> Any:
    return events.dropDuplicatesWithinWatermark(["value"]).select("value")


def _limited(events: Any) -> Any:
    return events.select("value").limit(5)


def _joined(events: Any) -> Any:
    other = events.selectExpr("value as other", "at as other_at")
    return events.join(other, (events["value"] == other["other"])).select("value")


def _joined_outer(events: Any) -> Any:
    from pyspark.sql.functions import expr

    other = events.selectExpr("value as other", "at as other_at")
    within = expr("value = other and other_at between at and at + interval 1 minute")
    return events.join(other, within, "left_outer").select("value")


def _windowed(events: Any) -> Any:
    from pyspark.sql.functions import window

    return events.groupBy(window("at", "1 minute"), "value").count()


def _windowed_twice(events: Any) -> Any:
    from pyspark.sql.functions import window

    return _windowed(events).groupBy(window("window", "2 minutes")).count()


def _counted(events: Any) -> Any:
    return events.groupBy("value").count()


def _limited_counts(events: Any) -> Any:
    return _windowed(events).limit(5)


TAKEN: tuple[tuple[Callable[[Any], Any], str], ...] = (
    (_stateless, "append update"),
    (_deduplicated, "append update"),
    (_deduplicated_within, "append update"),
    (_limited, "append"),
    (_joined, "append update"),
    (_joined_outer, "append"),
    (_windowed, "append update complete"),
    (_windowed_twice, "append"),
    (_counted, "update complete"),
    (_limited_counts, "append complete"),
)
"""The modes in which each query starts."""


def _starts(spark: Any, query: Any, folder: Path, mode: str) -> bool:
    from pyspark.errors import AnalysisException

    writer = query.writeStream.format("noop").outputMode(mode).trigger(availableNow=True)
    try:
        running = writer.option("checkpointLocation", str(folder / mode)).start()
    except AnalysisException:
        return False
    running.awaitTermination()
    return True


@pytest.mark.parametrize(("build", "taken"), TAKEN, ids=lambda one: getattr(one, "__name__", ""))
def test_spark_takes_these_modes_and_evidence_infers_no_other(
    spark: Any, tmp_path: Path, build: Callable[[Any], Any], taken: str
) -> None:
    """Each mode is tried; what is told of the started ones leaves none of the taken modes out.

    An outer join leaves the same operator as an inner one, so that it can be told no closer.
    """
    query = build(_events(spark, tmp_path))
    started = [mode for mode in MODES if _starts(spark, query, tmp_path, mode)]
    assert started == taken.split()
    for mode in started:
        files = read_folder(tmp_path / mode, tmp_path / "none")
        told = gathered(files).result.output_mode.value
        assert told is None or set(started) <= set(told.split(" or ")), mode
        assert told not in MODES or [told] == started, mode
