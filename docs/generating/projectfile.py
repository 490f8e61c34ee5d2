"""The page of the project file, from the models that read it."""

from __future__ import annotations

from typing import Any

from docs.generating.markdown import code, page, table
from docs.generating.projectkeys import EXAMPLE, KEYS
from holdfast.jobs.declaration import Declaration
from holdfast.jobs.job import Job, OnFailure, Restart, Trigger
from holdfast.jobs.places import Spark, Storage
from holdfast.jobs.profiles import Profile
from holdfast.jobs.project import Project
from holdfast.jobs.sink import Sink
from holdfast.jobs.source import Source

MODELS: dict[str, type[Declaration]] = {
    "The file": Project,
    "spark": Spark,
    "storage": Storage,
    "A job": Job,
    "A source": Source,
    "A sink": Sink,
    "A trigger": Trigger,
    "A profile": Profile,
    "A restart": Restart,
    "On failure": OnFailure,
}
"""Heading to the model whose keys stand below it."""


def project_file_page() -> str:
    """Give the page: an example, the rules, then every key."""
    intro = (
        "A project is a folder with `holdfast.yaml`; it is looked for from the working directory "
        "upward, or given with `--project`. `run` runs its jobs; the other commands take from it "
        "the place of a job's checkpoint, the formats of its sources, its sink and the settings "
        "of the storage. [Declare jobs](../how-to/declare-jobs.md) shows it by example."
    )
    rules = (
        "- Relative paths are relative to the file's folder.\n"
        "- A key that is not known is an error that names the line and the nearest key.\n"
        "- A key that stands twice is an error.\n"
        "- `${env:NAME}` and `${file:PATH}` are the only substitutions, looked up when they are "
        "used. What comes from them is a secret and is never shown, except in a path, in the name "
        "of a table or topic, in a host and as a number; urls and other options of sources and "
        "sinks are always secrets.\n"
        "- The checkpoint of a job is `<checkpoints>/<job>`, a fixed text: no substitution may "
        "stand in it, and no two jobs may share one.\n"
        "- `run` writes every sink but `kafka`, which it refuses before anything is touched unless "
        "it is `native`; "
        "[Choose a sink](../how-to/choose-a-sink.md) compares them."
    )
    profiles = (
        "`--profile NAME`, `HOLDFAST_PROFILE=NAME` or `profile=` in Python lays a profile over the "
        "rest of the file. Mappings merge by key; text, lists and triggers replace; `null` removes "
        "a key. All profiles are checked whenever the file is read. [Use one project in dev and "
        "prod](../how-to/use-profiles.md) shows it by example."
    )
    schema = (
        "Editors can use the [JSON Schema](schemas/project.json); `holdfast init` writes it "
        "beside a new project, `holdfast init --schema` beside one that exists."
    )
    parts = [part for title, model in MODELS.items() for part in _section(title, model)]
    example = f"```yaml\n{EXAMPLE}```"
    return page("Project file", intro, example, "## Rules", rules, schema, *parts, profiles)


def keys_of(model: type[Declaration]) -> list[str]:
    """Give the keys as they stand in the file."""
    return [field.alias or name for name, field in model.model_fields.items()]


def _section(title: str, model: type[Declaration]) -> list[str]:
    schema = model.model_json_schema(by_alias=True)
    rows = [_row(model, key, schema) for key in keys_of(model)]
    return [f"## {title}", (model.__doc__ or "").strip(), table(("key", "value", "meaning"), rows)]


def _row(model: type[Declaration], key: str, schema: dict[str, Any]) -> tuple[str, str, str]:
    needed = " (required)" if key in schema.get("required", ()) else ""
    value = _value(schema["properties"][key])
    return code(key), f"{value}{needed}", KEYS[model.__name__][key]


def _value(schema: dict[str, Any]) -> str:
    if "anyOf" in schema:
        return " or ".join(_value(one) for one in schema["anyOf"] if one.get("type") != "null")
    if "enum" in schema:
        return ", ".join(code(one) for one in schema["enum"])
    if schema.get("type") == "array":
        return "list of text"
    if schema.get("type") == "object" or "$ref" in schema:
        return "mapping"
    return {"boolean": "true or false", "integer": "number"}.get(schema.get("type", ""), "text")
