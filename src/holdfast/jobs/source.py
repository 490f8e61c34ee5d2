"""The model of a job's source, and what can be said about it without Spark."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field, model_validator

from holdfast.jobs.declaration import Declaration, SparkText, Text, refuse

_NEED_PATH = frozenset({"json", "csv", "parquet", "orc", "text", "delta"})
_STARTING = frozenset(
    {
        "startingoffsets",
        "startingoffsetsbytimestamp",
        "startingposition",
        "startingtimestamp",
        "startingversion",
        "stream-from-timestamp",
    }
)
_NO_PATH = frozenset({"kafka", "rate", "rate-micro-batch"})


def reads_folder(source_format: str) -> bool:
    """Whether a source of this format reads the folder that `path` names."""
    return source_format in _NEED_PATH


def starting_options(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options that only a query without a checkpoint reads, in small letters."""
    lowered = {key.lower(): value for key, value in options.items()}
    return {key: value for key, value in sorted(lowered.items()) if key in _STARTING}


class Source(Declaration):
    """Where a job's rows come from: any source that Spark can stream."""

    format: Text
    path: Text | None = None
    schema_text: Text | None = Field(default=None, alias="schema")
    options: dict[str, SparkText] = {}

    @model_validator(mode="after")
    def _path_where_one_is_read(self) -> Source:
        if self.format in _NEED_PATH and self.path is None and "path" not in self.options:
            refuse("HF1105", "format", f"a {self.format} source needs path: the folder to read")
        if self.format in _NO_PATH and self.path is not None:
            refuse("HF1104", "path", f"a {self.format} source has no path")
        if self.path is not None and "path" in self.options:
            refuse("HF1104", "path", "path stands here and under options; keep one of them")
        return self
