"""The model of a job's sink, and the rules between its keys."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import (
    ConfigDict,
    JsonValue,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticKnownError

from holdfast.jobs.projectfile.declaration import (
    Declaration,
    Function,
    PathText,
    SparkText,
    Text,
    refuse,
)
from holdfast.jobs.projectfile.substitution import has_reference

_FORMATS = (
    "delta",
    "parquet",
    "csv",
    "json",
    "orc",
    "postgres",
    "jdbc",
    "kafka",
    "custom",
    "memory",
    "console",
)
"""Sinks that Holdfast writes itself."""
_OWN_FORMATS: dict[str, JsonValue] = {
    "enum": [*_FORMATS],
    "description": "with native: true, any sink that Spark can load",
}
_ONLY_NATIVE: dict[str, JsonValue] = {
    "if": {"required": ["native"], "properties": {"native": {"const": True}}},
    "else": {"properties": {"format": _OWN_FORMATS}},
}
_NOT_NATIVE = {
    "postgres": "Spark has no postgres sink of its own",
    "custom": "Spark has no custom sink of its own; use function without native",
    "memory": "Spark's own memory sink cannot be started again on a checkpoint",
}
_FILES = frozenset({"parquet", "csv", "json", "orc"})
_DATABASES = frozenset({"postgres", "jdbc"})
_WITH_PATH = _FILES | {"delta"}
_CAN_UPSERT = _DATABASES | {"delta", "custom"}

_REQUIRED: tuple[tuple[str, frozenset[str], str], ...] = (
    ("path", _WITH_PATH, "the directory to write"),
    ("url", _DATABASES, "the database"),
    ("table", _DATABASES, "the table to write"),
    ("function", frozenset({"custom"}), "module:function"),
)
"""Keys that some formats need and no other may have."""

_OPTIONAL: tuple[tuple[str, frozenset[str]], ...] = (
    ("batch_column", _DATABASES),
    ("partition_by", _WITH_PATH),
)
"""Keys that some formats may have and no other."""

_URLS: dict[str, tuple[str, ...]] = {
    "postgres": ("postgresql://", "postgres://", "jdbc:postgresql:"),
    "jdbc": ("jdbc:",),
}

_KEY_INSTEAD = {
    "path": "set path next to format",
    "checkpointlocation": "the checkpoint is always <checkpoints>/<job>",
}
"""Options of Spark that would decide a second time what a key decides."""


class Sink(Declaration):
    """Where a job's rows go."""

    model_config = ConfigDict(json_schema_extra=_ONLY_NATIVE)

    native: bool = False
    format: Annotated[
        Text, WithJsonSchema({"anyOf": [_OWN_FORMATS, {"type": "string", "minLength": 1}]})
    ]
    mode: Literal["append", "upsert", "complete"] = "append"
    key: tuple[Text, ...] = ()
    order_by: Text | None = None
    batch_column: Text | None = None
    path: PathText | None = None
    url: Text | None = None
    table: Text | None = None
    function: Function | None = None
    partition_by: tuple[Text, ...] = ()
    options: dict[str, SparkText] = {}

    @field_validator("format")
    @classmethod
    def _format_that_is_written(cls, value: str, given: ValidationInfo) -> str:
        # Where `native` itself is wrong, that is what is reported.
        if value not in _FORMATS and not given.data.get("native", True):
            raise PydanticKnownError("literal_error", {"expected": ", ".join(_FORMATS)})
        return value

    @model_validator(mode="after")
    def _keys_of_a_native_sink(self) -> Sink:
        if not self.native:
            return self
        if self.format in _NOT_NATIVE:
            refuse("HF1104", "native", f"{_NOT_NATIVE[self.format]}; remove native")
        if self.mode != "append":
            message = (
                f"mode {self.mode} is for Holdfast's own sinks; a native sink writes what Spark's "
                "output_mode produces"
            )
            refuse("HF1104", "mode", message)
        if self.url is not None:
            refuse("HF1104", "url", "set the url of a native sink under options")
        for key in ("key", "order_by", "batch_column", "function"):
            if getattr(self, key):
                refuse("HF1104", key, f"{key} is for Holdfast's own sinks, not for native sinks")
        if self.path is not None and self.table is not None:
            refuse("HF1104", "table", "a native sink takes either path or table, not both")
        if self.format.lower() in _WITH_PATH and self.path is None and self.table is None:
            refuse("HF1105", "format", f"a {self.format} sink requires path or table")
        return self

    @model_validator(mode="after")
    def _keys_that_the_format_takes(self) -> Sink:
        if self.native:
            return self
        for key, formats, what in _REQUIRED:
            if self.format in formats and getattr(self, key) is None:
                refuse("HF1105", "format", f"a {self.format} sink requires {key}: {what}")
        for key, formats in (*((key, formats) for key, formats, _ in _REQUIRED), *_OPTIONAL):
            if self.format not in formats and getattr(self, key):
                refuse("HF1104", key, f"a {self.format} sink does not take {key}")
        return self

    @model_validator(mode="after")
    def _options_that_have_a_key(self) -> Sink:
        for name in self.options:
            instead = _KEY_INSTEAD.get(name.lower())
            if instead:
                refuse("HF1104", "options", f"{name} cannot be set as an option: {instead}")
        return self

    @model_validator(mode="after")
    def _keys_that_the_mode_takes(self) -> Sink:
        if self.native:
            return self
        if self.mode == "upsert" and self.format not in _CAN_UPSERT:
            refuse("HF1104", "mode", f"a {self.format} sink does not support upsert")
        if self.mode == "complete" and self.format == "kafka":
            refuse(
                "HF1104",
                "mode",
                "a kafka sink does not support complete: rows in a topic are never replaced",
            )
        if self.mode == "upsert" and not self.key:
            refuse("HF1105", "mode", "mode upsert requires key: the columns that identify a row")
        for key in ("key", "order_by"):
            if self.mode != "upsert" and getattr(self, key):
                refuse("HF1104", key, f"{key} is for mode upsert; the mode is {self.mode}")
        if self.mode != "append" and self.batch_column:
            refuse("HF1104", "batch_column", "batch_column is for mode append")
        return self

    @model_validator(mode="after")
    def _url_of_the_format(self) -> Sink:
        starts = _URLS.get(self.format)
        if starts and self.url and not has_reference(self.url) and not self.url.startswith(starts):
            refuse("HF1104", "url", f"the url of a {self.format} sink must begin with {starts[0]}")
        return self
