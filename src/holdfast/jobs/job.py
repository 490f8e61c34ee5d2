"""The model of one job: sources, a transform, a sink, and how it is started."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import AfterValidator, Field, model_validator

from holdfast.jobs.declaration import (
    NAMES_ONLY,
    Declaration,
    Function,
    SparkText,
    Text,
    ViewName,
    refuse,
)
from holdfast.jobs.runtimeconf import at_run_time
from holdfast.jobs.sink import Sink
from holdfast.jobs.source import Source

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


class Trigger(Declaration):
    """When a batch is started."""

    available_now: bool | None = None
    processing_time: Text | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Trigger:
        if self.available_now is False:
            refuse("HF1104", "available_now", "available_now is true, or is left out")
        if (self.available_now is None) == (self.processing_time is None):
            message = "a trigger is either available_now: true or processing_time: an interval"
            refuse("HF1104", "available_now", message)
        if self.processing_time and not _INTERVAL.fullmatch(self.processing_time.strip()):
            message = "processing_time is an interval such as 10 seconds"
            refuse("HF1104", "processing_time", message)
        return self


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
            refuse("HF1105", "", "it lacks source: where its rows come from")
        if self.transform is not None and self.sql is not None:
            refuse("HF1104", "sql", "transform and sql exclude each other; keep one")
        if self.transform is None and self.sql is None:
            refuse("HF1105", "", "it lacks transform: module:function, or sql: a query")
        return self
