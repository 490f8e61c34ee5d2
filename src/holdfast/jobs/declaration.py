"""What all parts of a project file have in common: strict, frozen, closed, and the same texts."""

from __future__ import annotations

from typing import Annotated, NoReturn

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    JsonValue,
    StringConstraints,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError


class Declaration(BaseModel):
    """A mapping in the project file: no unknown keys, no values that are quietly converted."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def refuse(code: str, key: str, message: str) -> NoReturn:
    """Stop a rule across several keys; `key` is the one that the problem is shown at."""
    raise PydanticCustomError("rule", "rule", {"code": code, "key": key, "message": message})


def _as_spark_writes_it(value: object) -> object:
    return str(value).lower() if isinstance(value, bool) else value


def _whole_number(value: object) -> int:
    # The file's numbers arrive as they are written.
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 10:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    refuse("HF1104", "", "a whole number such as 10 is needed")


NAMES_ONLY: dict[str, JsonValue] = {"additionalProperties": False}
"""For the JSON Schema of a mapping whose keys have a form: pydantic leaves it open there."""

Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9-]*$")]
"""The name of a project or a job: it becomes a part of a path and of a URL."""

ViewName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
"""The name of one of several sources: SQL sees a view with this name."""

Function = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_]*$")
]
"""`module:function` in the project's folder."""

Count = Annotated[
    int,
    BeforeValidator(_whole_number),
    WithJsonSchema({"type": "integer", "minimum": 0}),
]
"""A whole number, zero or more."""

Text = Annotated[str, StringConstraints(min_length=1)]

SparkText = Annotated[
    str,
    BeforeValidator(_as_spark_writes_it),
    WithJsonSchema({"type": ["string", "number", "boolean"]}),
]
"""A setting or option: whatever scalar was written, as the text that Spark gets."""
