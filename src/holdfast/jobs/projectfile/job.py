"""The model of one job: its sources, a transform, a sink, its settings, and how it is started."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, ConfigDict, Field, JsonValue, field_validator, model_validator

from holdfast.jobs.projectfile.declaration import (
    NAMES_ONLY,
    Count,
    Declaration,
    Function,
    SparkText,
    Text,
    ViewName,
    refuse,
)
from holdfast.jobs.projectfile.sink import Sink
from holdfast.jobs.projectfile.substitution import has_reference

_NEED_PATH = frozenset({"json", "csv", "parquet", "orc", "text", "delta"})
_NO_PATH = frozenset({"kafka", "rate", "rate-micro-batch"})


def reads_folder(source_format: str) -> bool:
    """Whether a source of this format reads the folder that `path` names."""
    return source_format in _NEED_PATH


class Source(Declaration):
    """Where a job's rows come from: any source that Spark can stream."""

    format: Text
    path: Text | None = None
    schema_text: Text | None = Field(default=None, alias="schema")
    options: dict[str, SparkText] = {}

    @model_validator(mode="after")
    def _path_where_one_is_read(self) -> Source:
        if self.format in _NEED_PATH and self.path is None and "path" not in self.options:
            refuse(
                "HF1105", "format", f"a {self.format} source requires path: the directory to read"
            )
        if self.format in _NO_PATH and self.path is not None:
            refuse("HF1104", "path", f"a {self.format} source does not take path")
        if self.path is not None and "path" in self.options:
            refuse("HF1104", "path", "path is set here and under options; keep one")
        return self


_OF_A_SESSION = (
    "spark.master",
    "spark.app.",
    "spark.jars",
    "spark.files",
    "spark.submit.",
    "spark.driver.",
    "spark.executor.",
    "spark.cores.max",
    "spark.dynamicAllocation.",
    "spark.kubernetes.",
    "spark.yarn.",
    "spark.memory.",
    "spark.local.dir",
    "spark.serializer",
    "spark.ui.",
    "spark.eventLog.",
    "spark.network.",
    "spark.shuffle.",
    "spark.sql.extensions",
    "spark.sql.warehouse.dir",
)
"""How a name begins that Spark reads once: it refuses to change these, or silently ignores it."""
_HADOOP = "spark.hadoop."
_CHECKPOINT = "spark.sql.streaming.checkpointLocation"


def at_run_time(conf: Mapping[str, str]) -> Mapping[str, str]:
    """Return the settings of one job; refuse one that cannot differ between jobs."""
    for name in conf:
        if name == _CHECKPOINT:
            message = f"{name} has no effect: a job's checkpoint is <checkpoints>/<job>"
            refuse("HF1110", name, message)
        if name.startswith(_OF_A_SESSION):
            message = f"{name} cannot differ between jobs; set it under spark.conf"
            refuse("HF1110", name, message)
        if name.startswith(_HADOOP):
            bare = name.removeprefix(_HADOOP)
            message = f"{name} has an effect only under spark.conf; for one job, use {bare}"
            refuse("HF1110", name, message)
    return conf


OutputMode = Literal["append", "update", "complete"]

_ONLY_SOURCE = "source"
_OUTPUT_MODES: Mapping[str, OutputMode] = {
    "append": "append",
    "upsert": "update",
    "complete": "complete",
}
"""Spark's output mode that follows from the sink's mode where a job names none."""
_INTERVAL = re.compile(
    r"(?:interval\s+)?(?:\d+\s+(?:(?:micro|milli)?second|minute|hour|day|week)s?\s*)+",
    re.IGNORECASE,
)
_TRIGGER_SPELLINGS: Mapping[str, str] = {
    "availableNow": "available_now",
    "once": "available_now",
    "processingTime": "processing_time",
}
"""Names of triggers in Spark's Python API, and our key for each."""


def _with_spellings(schema: dict[str, JsonValue]) -> None:
    """Add Spark's spellings to the JSON Schema, so that editors accept them."""
    properties = schema["properties"]
    assert isinstance(properties, dict)
    properties |= {spelling: properties[key] for spelling, key in _TRIGGER_SPELLINGS.items()}


_SECONDS: Mapping[str, float] = {
    "microsecond": 1e-6,
    "millisecond": 1e-3,
    "second": 1.0,
    "minute": 60.0,
    "hour": 3600.0,
    "day": 86_400.0,
    "week": 604_800.0,
}


def interval_seconds(text: str) -> float:
    """Return how long an interval such as `1 minute 30 seconds` is."""
    parts = re.findall(r"(\d+)\s+([a-z]+?)s?\b", text.lower())
    return sum(int(number) * _SECONDS[unit] for number, unit in parts)


class Trigger(Declaration):
    """When a batch is started."""

    model_config = ConfigDict(json_schema_extra=_with_spellings)

    available_now: bool | None = None
    processing_time: Text | None = None

    @model_validator(mode="before")
    @classmethod
    def _one_spelling(cls, written: object) -> object:
        if not isinstance(written, Mapping):
            return written
        renamed: dict[object, object] = {}
        for spelling, value in written.items():
            key = _TRIGGER_SPELLINGS.get(spelling, spelling)
            if key in renamed:
                refuse("HF1104", spelling, f"{spelling} sets {key} a second time; keep one")
            renamed[key] = value
        return renamed

    @model_validator(mode="after")
    def _exactly_one(self) -> Trigger:
        if self.available_now is False:
            refuse("HF1104", "available_now", "available_now must be true or omitted")
        if (self.available_now is None) == (self.processing_time is None):
            message = "a trigger is either available_now: true or processing_time: an interval"
            refuse("HF1104", "available_now", message)
        if self.processing_time and not _INTERVAL.fullmatch(self.processing_time.strip()):
            message = "processing_time must be an interval such as 10 seconds"
            refuse("HF1104", "processing_time", message)
        return self


class Restart(Declaration):
    """How `run --keep-running` restarts a job that failed for a reason that passes."""

    limit: Count = 10
    backoff: Text = "5 seconds"

    @field_validator("backoff")
    @classmethod
    def _an_interval(cls, backoff: str) -> str:
        if not _INTERVAL.fullmatch(backoff.strip()):
            refuse("HF1104", "", "backoff must be an interval such as 5 seconds")
        return backoff


class Backup(Declaration):
    """How often `run` backs the checkpoint up, and how many of these backups are kept."""

    every: Text
    keep: Count = 24

    @field_validator("every")
    @classmethod
    def _an_interval(cls, every: str) -> str:
        if not _INTERVAL.fullmatch(every.strip()):
            refuse("HF1104", "", "every must be an interval such as 1 hour")
        return every

    @field_validator("keep")
    @classmethod
    def _at_least_one(cls, keep: int) -> int:
        if keep < 1:
            refuse("HF1104", "", "keep must be at least 1")
        return keep


class OnFailure(Declaration):
    """What is called when a job failed for good."""

    command: Text | None = None
    webhook: Text | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> OnFailure:
        if (self.command is None) == (self.webhook is None):
            message = (
                "on_failure is either command: a program with its arguments, or webhook: a URL"
            )
            refuse("HF1104", "command", message)
        if self.command is not None:
            _check_command(self.command)
        url = self.webhook
        if url and not has_reference(url) and not url.startswith(("http://", "https://")):
            refuse("HF1104", "webhook", "a webhook must begin with https:// or http://")
        return self


def _check_command(command: str) -> None:
    try:
        words = shlex.split(command)
    except ValueError as error:
        refuse("HF1104", "command", f"command cannot be split into words: {str(error).lower()}")
    if not words:
        refuse("HF1104", "command", "command names no program")


class Job(Declaration):
    """One streaming query that the user declared."""

    source: Source | None = None
    sources: dict[ViewName, Source] = Field(default={}, json_schema_extra=NAMES_ONLY)
    transform: Function | None = None
    sql: Text | None = None
    sink: Sink
    output_mode: OutputMode | None = None
    trigger: Trigger = Trigger(available_now=True)
    conf: Annotated[dict[str, SparkText], AfterValidator(at_run_time)] = {}
    checkpoint: Text | None = None
    protect: bool = False
    restart: Restart = Restart()
    on_failure: OnFailure | None = None
    backup: Backup | None = None

    @property
    def named_sources(self) -> Mapping[str, Source]:
        """Every source by its name; the only one of a job is called `source`."""
        return self.sources if self.source is None else {_ONLY_SOURCE: self.source}

    @property
    def decided_output_mode(self) -> OutputMode:
        """Spark's output mode: the declared one, else what follows from the sink's mode."""
        return self.output_mode or _OUTPUT_MODES[self.sink.mode]

    @model_validator(mode="after")
    def _one_of_two(self) -> Job:
        if self.source is not None and self.sources:
            refuse("HF1104", "sources", "source and sources exclude each other; keep one")
        if self.source is None and not self.sources:
            refuse("HF1105", "", "source is required: where its rows come from")
        if self.transform is not None and self.sql is not None:
            refuse("HF1104", "sql", "transform and sql exclude each other; keep one")
        if self.transform is None and self.sql is None:
            refuse("HF1105", "", "transform (module:function) or sql (a query) is required")
        return self
