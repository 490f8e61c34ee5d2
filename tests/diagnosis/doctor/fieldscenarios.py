"""Scenarios of changed queries, last runs and sources: declared against stored.

Their records are those of `tests/fieldcases`, which made the same situations on real parts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from holdfast.checkpoint.picture import Picture
from holdfast.diagnosis.doctor.doctor import Examinee
from holdfast.diagnosis.inspection.sources import (
    NO_SOURCES_SEEN,
    BrokerSeen,
    SourcePlaces,
    SourcesSeen,
    Span,
)
from holdfast.diagnosis.inspection.subject import DeclaredJob
from holdfast.errors import StorageError
from holdfast.jobs.queryshape import AGGREGATION, QueryShape, python_shape
from holdfast.jobs.ready import ChangedTable
from holdfast.jobs.sqltext import sql_shape
from holdfast.records.run import Run, SinkFacts, SourceProgress
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Reader
from tests.checkpoint.pictures import files_of
from tests.diagnosis.doctor.examining import Files, examinee, output_of
from tests.diagnosis.doctor.recording import recorded, run_on, stateful_run_on
from tests.diagnosis.doctor.scenarios import (
    ERROR,
    FATAL,
    INFO,
    WARNING,
    Scenario,
    alone,
    below,
    declared,
)

COUNTED = "aggregation-complete"
COUNTING = "select key, count(*) from source group by key"
TABLE = "d577d97e-87e3-42cb-8320-05ad19de71a0"
LOG = {f"{version:020}.json": {"metaData": {"id": TABLE}} for version in range(5)}
KAFKA = {"kafka.bootstrap.servers": "broker:9092", "subscribe": "orders,refunds"}
BROKER = BrokerSeen(
    "broker:9092",
    frozenset({"orders", "refunds"}),
    {("orders", 0): Span(0, 9), ("orders", 1): Span(0, 3),
     ("refunds", 0): Span(0, 3), ("refunds", 1): Span(0, 1)},
)  # fmt: skip
"""A broker that has exactly what the sample has read."""


@dataclass(frozen=True)
class Seen(SourcePlaces):
    """Places that were looked at already."""

    seen: SourcesSeen = NO_SOURCES_SEEN

    def look(self, _picture: Picture, _run: Run | None) -> SourcesSeen:
        """Return what was seen."""
        return self.seen


def queried(shape: QueryShape, name: str = COUNTED, **fields: object) -> tuple[Examinee, ...]:
    """Declare a query over a sample."""
    job = declared(output_mode="complete", **fields)
    return alone(files_of(name), job=replace(job, query=shape))


def over_source(sql: str) -> QueryShape:
    """Return the shape of a statement over one source."""
    return sql_shape(sql, ("source",))


def deduplicating(keys: str) -> QueryShape:
    """Return the shape of a transform that drops duplicates."""
    text = f"def transform(source):\n    return source.dropDuplicates({keys})\n"
    return python_shape(text, "transform")


def swapped() -> tuple[Examinee, ...]:
    """Declare the two sources of a sample in the other order."""
    folder = "file:///tmp/holdfast-corpus/two-sources"
    folders = {"first": f"{folder}/in", "second": f"{folder}/in-2"}
    sources = {name: {"format": "json", "path": name} for name in folders}
    text = "select * from second union all select * from first"
    job = declared(source=None, sources=sources, folders=folders, sql=text)
    return alone(files_of("two-sources"), job=replace(job, query=sql_shape(text, folders)))


def after_run(job: DeclaredJob, name: str = COUNTED, **changes: Any) -> tuple[Examinee, ...]:
    """Declare a job on a sample whose run was recorded."""
    return alone(files_of(name), job=job, recorded=recorded(run_on(name, **changes)))


_CHAIN = "tests/spark/running/test_chain.py runs it"


def streaming(option: str | None) -> DeclaredJob:
    """Declare a job that streams a table that another job upserts into."""
    table = ChangedTable("source", "totals", "upsert", option)
    return replace(declared(), changed_tables=(table,))


def kafka_job(**options: str) -> DeclaredJob:
    """Declare the source of the Kafka sample."""
    return declared(source={"format": "kafka", "options": {**KAFKA, **options}})


def asked(broker: BrokerSeen) -> tuple[Examinee, ...]:
    """Give the Kafka sample with what its broker says."""
    one = examinee(files_of("kafka", "4.2.0"), job=kafka_job())
    return (replace(one, sources=Seen(seen=SourcesSeen(brokers=(broker,)))),)


def spans(changes: Mapping[tuple[str, int], Span | None]) -> BrokerSeen:
    """Change what the broker has of some partitions; None takes one away."""
    changed = {**BROKER.spans, **changes}
    return replace(BROKER, spans={one: span for one, span in changed.items() if span is not None})


def reading(log: Mapping[str, object], name: str = "delta") -> tuple[Examinee, ...]:
    """Give the Delta sample with the log of the table that it reads."""
    files = {path: f"{json.dumps(action)}\n".encode() for path, action in log.items()}

    def open_table(path: str) -> tuple[str, Reader]:
        return path, MemoryReader(files, location=f"{path}/_delta_log")

    one = examinee(files_of(name, "4.2.0"))
    return (replace(one, sources=SourcePlaces(open_table, ("/lake/table",))),)


def unreadable_table() -> tuple[Examinee, ...]:
    """Give the Delta sample with a table that nobody may read."""

    def refuse(_path: str) -> tuple[str, Reader]:
        raise StorageError("HF7002", "access was denied")

    one = examinee(files_of("delta", "4.2.0"))
    return (replace(one, sources=SourcePlaces(refuse, ("/lake/table",))),)


def versions(*numbers: int) -> Files:
    """Give the log of the sample's table with these versions alone."""
    return {f"{one:020}.json": LOG[f"{one:020}.json"] for one in numbers}  # type: ignore[misc]


FIELD_SCENARIOS: tuple[Scenario, ...] = (
    Scenario((34,), "HF2357", WARNING, "", "Spark goes on and accepts the new mode silently.",
             lambda: after_run(declared(output_mode="complete"), output_mode="update"),
             tried=("4.2.0/output-mode-changed",)),
    Scenario((37,), "HF2358", WARNING, "",
             "Spark goes on from the stored offsets; the option has no effect.",
             lambda: alone(files_of("kafka", "4.2.0"),
                           job=kafka_job(startingOffsets='{"orders":{"0":5,"1":-2}}')),
             tried=("4.2.0/starting-offsets-changed",)),
    Scenario((38,), "HF2359", INFO, "", "Spark goes on: a newer release reads the checkpoint.",
             lambda: alone(files_of("stateless", "4.1.4"), job=replace(declared(), spark="4.2.0")),
             tried=("4.2.0/newer-release",)),
    Scenario((24,), "HF2361", FATAL, "offsets/2 line 3",
             "Spark stops: Wrong basePath; where the newest batch has no file it reads "
             "everything again.",
             swapped, tried=("4.2.0/union-swapped",)),
    Scenario((27,), "HF2362", FATAL, "state",
             "Spark stops: STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA.",
             lambda: queried(deduplicating('["key"]')),
             tried=("4.2.0/aggregation-to-deduplication",)),
    Scenario((28,), "HF2362", FATAL, "state",
             "Spark stops: STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA.",
             lambda: queried(over_source("select key from source")),
             tried=("4.2.0/operator-removed",)),
    Scenario((29,), "HF2362", FATAL, "state",
             "Spark stops: STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY.",
             lambda: queried(over_source("select key, count(*) from source group by key"),
                             "stateless"),
             tried=("4.2.0/operator-added",)),
    Scenario((50,), "HF2221", FATAL, "state",
             "Spark stops: STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY.",
             lambda: alone(below(files_of(COUNTED), "state/"),
                           recorded=recorded(stateful_run_on(COUNTED, "stateStoreSave"))),
             tried=("4.3.0/aggregation/state-removed", "4.3.0/rocksdb/state-removed")),
    Scenario((50,), "HF2362", FATAL, "state",
             "Spark stops: STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY.",
             lambda: alone(below(files_of(COUNTED), "state/"), job=replace(
                 declared(output_mode="complete"), query=over_source(COUNTING))),
             tried=("4.3.0/aggregation/state-removed",)),
    Scenario((25,), "HF2363", FATAL, "state/0",
             "Spark stops: STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE; with a key of the same type it "
             "goes on: rows of different keys are mixed, some are lost and some doubled.",
             lambda: queried(over_source("select key, city, count(*) from source group by key, "
                                         "city")),
             tried=("4.2.0/key-added", "4.2.0/key-replaced")),
    Scenario((26,), "HF2364", FATAL, "state/0",
             "Spark goes on and mixes old sums into the maximum: right rows are lost, wrong ones "
             "stand there doubled.",
             lambda: queried(over_source("select key, max(n) from source group by key")),
             tried=("4.2.0/sum-to-max",)),
    Scenario((39,), "HF2365", WARNING, "", "Spark goes on and writes to the other sink silently.",
             lambda: after_run(declared(), "stateless",
                               sink=SinkFacts("custom", "pipeline:deliver", "append", "none")),
             tried=("4.2.0/sink-kind-changed",)),
    Scenario((58,), "HF2366", FATAL, "offsets/2 line 3",
             "Delta stops: DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE.",
             lambda: reading({f"{0:020}.json": {"metaData": {"id": "another"}}}),
             tried=("4.2.0/delta-source-created-again",)),
    Scenario((59,), "HF2367", FATAL, "offsets/2 line 3",
             "Delta stops: DELTA_LOG_FILE_NOT_FOUND.",
             lambda: reading(versions(4)), tried=("4.2.0/delta-log-cleaned",)),
    Scenario((), "HF2368", WARNING, "", "Nothing is known of it before the start.",
             unreadable_table, not_tried="it is about what doctor could not read"),
    Scenario((54,), "HF2369", FATAL, "offsets/3 line 3",
             "Spark stops with KAFKA_DATA_LOSS: the stored offset is out of range.",
             lambda: asked(spans({("orders", 0): Span(0, 2)})),
             tried=("4.2.0/topic-shorter", "4.2.0/records-expired")),
    Scenario((54,), "HF2369", FATAL, "offsets/3 line 3",
             "Spark stops with KAFKA_DATA_LOSS: the stored offset is out of range.",
             lambda: asked(spans({("orders", 1): Span(7, 9)})),
             tried=("4.2.0/records-expired",)),
    Scenario((56,), "HF2369", FATAL, "offsets/3 line 3",
             "Spark stops with KAFKA_DATA_LOSS: the stored offset is out of range.",
             lambda: asked(spans({("orders", 0): Span(0, 8)})),
             tried=("4.2.0/latest-goes-back",)),
    Scenario((55,), "HF2370", FATAL, "offsets/3 line 3",
             "Spark goes on after the stored offset: the records before it are lost.",
             lambda: asked(spans({("orders", 0): Span(0, 20, 0)})),
             tried=("4.2.0/topic-longer",)),
    Scenario((82,), "HF2371", ERROR, "offsets/",
             "Spark runs the batch again: its rows are in the table twice.",
             lambda: alone(files_of("pending"), job=declared(
                 sink={"format": "custom", "function": "pipeline:deliver"})),
             tried=("4.2.0/jdbc-append",),
             not_fatal="whether the rows were written before the end is not known"),
    Scenario((), "HF2372", ERROR, "",
             "Delta stops at the first changed row: DELTA_SOURCE_TABLE_IGNORE_CHANGES.",
             lambda: alone(files_of("stateless"), job=streaming(None)),
             not_tried=_CHAIN),
    Scenario((), "HF2373", WARNING, "", "Spark goes on; the changed rows are not delivered.",
             lambda: alone(files_of("stateless"), job=streaming("skipChangeCommits")),
             not_tried=_CHAIN),
    Scenario((), "HF2374", WARNING, "", "Spark reads on at another path than before.",
             lambda: after_run(
                 replace(declared(), source_paths={"source": "/lake/new"}), "stateless",
                 sources=(SourceProgress(
                     "source", "file", "FileStreamSource[file:/lake/old]"),)),
             not_tried=_CHAIN),
    Scenario((), "HF2375", WARNING, "", "Spark ignores the option, and reads all files at once.",
             lambda: alone(files_of("stateless"), job=declared(source={
                 "format": "json", "path": "in", "options": {"maxFilesPerTriger": "1"}})),
             not_tried="Spark goes on as without the option, which tests/spark/running shows"),
    Scenario((), "HF2376", WARNING, "", "Spark goes on; groups with one key overwrite each other.",
             lambda: alone(files_of("stateless"), job=replace(
                 declared(
                     sql="select k, day, sum(n) as s from source group by k, day",
                     sink={"format": "delta", "path": "out", "mode": "upsert", "key": ("k",)}),
                 query=QueryShape(operators=(AGGREGATION,), keys=frozenset({"k", "day"})))),
             not_tried="the start succeeds; tests/spark/query/test_upsertkey.py counts the rows"),
    Scenario((89,), "HF2412", FATAL, "_delta_log/00000000000000000002.json",
             "Delta takes every batch again under a new query id: all rows are there twice.",
             lambda: alone({}, output_of("delta", "4.2.0"), job=declared()),
             tried=("4.2.0/output-kept",)),
)  # fmt: skip
