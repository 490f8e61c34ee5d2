"""Facts of queries made by hand, and starts of them on a real checkpoint."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from holdfast.diagnosis.checks.picture import inspect_checkpoint
from holdfast.diagnosis.inspection.result import Inspection
from holdfast.ledgers.sinkstate import LastCommitted, SinkState
from holdfast.records.facts import (
    FACTS_VERSION,
    ColumnFacts,
    FunctionFacts,
    OperatorFacts,
    QueryFacts,
    SourceFacts,
    StaticFacts,
    StoreFacts,
    WatermarkFacts,
)
from holdfast.records.run import PlanFacts
from holdfast.restart.start import StartFacts
from holdfast.storage.memory import MemoryReader
from tests.checkpoint.pictures import files_of

SPARK = "4.2.1"
AMOUNT = ColumnFacts("amount", "bigint")
USER = ColumnFacts("user", "string")
TIME_ZONE = "spark.sql.session.timeZone"
PARTITIONS = "spark.sql.shuffle.partitions"
FORMAT = "spark.sql.streaming.stateStore.checkpointFormatVersion"

SOURCE = SourceFacts(
    "file", "json", {"path": "/lake/orders"}, (USER, AMOUNT), {"maxFilesPerTrigger": "10"}
)
OTHER = replace(SOURCE, identity={"path": "/lake/refunds"})
TOPIC = SourceFacts("kafka", "kafka", {"subscribe": "orders"})
STORE = StoreFacts(
    "default", (USER,), (ColumnFacts("sum", "bigint"), ColumnFacts("count", "bigint"))
)
SUMS = OperatorFacts(
    0,
    "stateStoreSave",
    ("user",),
    ("sum(amount)", "count(1)"),
    stores=(STORE,),
    input=("filter: amount > 0", "function pipeline:cleaned(user)"),
)
WINDOWS = replace(SUMS, keys=("window(at, 10 minutes)", "user"))
JOIN = OperatorFacts(
    0, "symmetricHashJoin", ("id", "id"), settings={"join type": "Inner", "condition": "a < b"}
)
LIMIT = OperatorFacts(0, "globalLimit", settings={"limit": "10"})
VARIABLES = OperatorFacts(
    0,
    "transformWithStateInPySparkExec",
    ("user",),
    settings={"time mode": "ProcessingTime", "output mode": "Update"},
    stores=(StoreFacts("seen", (USER,), (AMOUNT,)), StoreFacts("total", (USER,), (AMOUNT,))),
)
CLEANED = FunctionFacts("pipeline:cleaned", "udf", {"cleaned": "1", "LIMIT": "2"}, place="p.py:3")
SHOWN = FunctionFacts("pipeline:shown", "udf", {"shown": "1"}, place="p.py:9")
STATIC = StaticFacts("lake.cities", "version 3")

STATEFUL = QueryFacts(
    FACTS_VERSION,
    SPARK,
    "update",
    (SOURCE,),
    (SUMS,),
    (WatermarkFacts("at", 600_000),),
    (CLEANED, SHOWN),
    (STATIC,),
    ("project: user, pipeline:shown(sum)",),
    (USER, AMOUNT),
    {TIME_ZONE: "UTC", PARTITIONS: "2", FORMAT: "1"},
)
STATELESS = replace(STATEFUL, operators=(), watermarks=(), output_mode="append")


@cache
def inspected(shape: str = "aggregation-hdfs-snappy") -> Inspection:
    """Inspect a real checkpoint."""
    return inspect_checkpoint(MemoryReader(files_of(shape, SPARK))).result


def changed(facts: QueryFacts = STATEFUL, **changes: Any) -> QueryFacts:
    """Return facts of a query that differ in some fields."""
    return replace(facts, **changes)


def operated(operator: OperatorFacts = SUMS, **changes: Any) -> QueryFacts:
    """Return the stateful query with one operator that differs."""
    return replace(STATEFUL, operators=(replace(operator, **changes),))


def start_of(before: QueryFacts | None, now: QueryFacts | None, **others: Any) -> StartFacts:
    """Return a start of a query on a checkpoint that another one, or the same, last ran on."""
    facts = now or before or STATEFUL
    shape = "aggregation-hdfs-snappy" if facts.operators else "stateless"
    found = others.pop("inspection", inspected(shape))
    names = tuple(one.name or "" for one in found.operators)
    plan = PlanFacts(tuple(one.kind for one in found.sources), names, query=now)
    nothing = SinkState(LastCommitted.nothing("the sink holds none"))
    start = StartFacts(found, plan, nothing, frozenset(), {}, stored=before, current=now)
    return replace(start, **{"spark": SPARK, **others})
