"""Looks into a query that Spark runs, or ran: its plan, its checkpoint, and what it committed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from holdfast.errors import SourceError
from holdfast.spark.facts.plan.planning import java_class
from holdfast.spark.facts.plan.reading import REFUSALS
from holdfast.spark.session.installation import refuse_connect_session, refuse_stopped_session

_DATASETS = ("org.apache.spark.sql.classic.Dataset", "org.apache.spark.sql.Dataset")


@dataclass(frozen=True)
class LookedInto:
    """A query as it was started."""

    frame: DataFrame
    """What it writes."""
    checkpoint: str
    output_mode: str
    sink: str
    made: int | None
    """The newest batch that it has committed itself; None where it has none yet."""


def is_query(given: object) -> bool:
    """Tell whether this is what `start()` of a writer returns, or a query of Spark Connect."""
    name = type(given).__name__
    return name == "StreamingQuery" and type(given).__module__.startswith("pyspark.sql.")


def look_into(query: Any) -> LookedInto:
    """Return what a query is; raise HoldfastError for one that cannot be asked."""
    if not hasattr(query, "_jsq"):
        refuse_connect_session(getattr(query, "_session", None))
        raise SourceError("HF5118", f"record was given a {type(query).__name__} without a plan")
    session = SparkSession.builder.getOrCreate()
    refuse_stopped_session(session)
    execution = query._jsq.streamingQuery()
    return LookedInto(
        frame=DataFrame(_frame_of(session, execution), session),
        checkpoint=str(execution.resolvedCheckpointRoot()),
        output_mode=str(execution.outputMode().toString()).lower(),
        sink=_shown(execution.sink()),
        made=_newest_made(query.recentProgress),
    )


def _frame_of(session: SparkSession, execution: Any) -> Any:
    """Return the Java DataFrame of the plan that a query was started with."""
    machine = session.sparkContext._jvm
    for name in _DATASETS:
        try:
            return java_class(machine, name).ofRows(
                execution.sparkSession(), execution.analyzedPlan()
            )
        except REFUSALS as error:
            failure = error
    raise failure


def _shown(sink: Any) -> str:
    """Return the words of Spark for a sink; those of its first interface have no name."""
    try:
        return str(sink.name())
    except REFUSALS:
        return str(sink.toString())


def _newest_made(progress: Iterable[Mapping[str, Any]]) -> int | None:
    """Return the newest batch that was run to its end: a trigger without data names the next."""
    made = (int(one["batchId"]) for one in progress if "addBatch" in one["durationMs"])
    return max(made, default=None)
