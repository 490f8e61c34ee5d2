"""The page of the project file, from the models that read it."""

from __future__ import annotations

from typing import Any

from docs.generating.markdown import code, page, table
from docs.generating.projectkeys import EXAMPLE, KEYS
from holdfast.jobs.projectfile.declaration import Declaration, Spark, Storage
from holdfast.jobs.projectfile.job import Backup, Job, OnFailure, Restart, Source, Trigger
from holdfast.jobs.projectfile.model import Project
from holdfast.jobs.projectfile.profiles import Profile
from holdfast.jobs.projectfile.sink import Sink

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
    "A backup": Backup,
}
"""Heading to the model whose keys are listed below it."""


def project_file_page() -> str:
    """Return the page: an example, the rules, then every key."""
    intro = (
        "A project is a directory with a `holdfast.yaml`. Commands use the nearest one in the "
        "working directory or a parent directory, or the one given with `--project`. `run` runs "
        "its jobs; the other commands read from it where a job's checkpoint is, the formats of "
        "its sources, its sink and the storage settings. [Declare "
        "jobs](../how-to/declare-jobs.md) has examples."
    )
    rules = (
        "- Relative paths are relative to the directory of the file.\n"
        "- An unknown key is an error; the message shows the line and the nearest known key.\n"
        "- A duplicate key is an error.\n"
        "- `${env:NAME}` and `${file:PATH}` are the only substitutions. They are resolved when "
        "they are used. Their values are secrets and are never shown, except in a path, in the "
        "name of a table or topic, in a host and as a number; URLs and other options of sources "
        "and sinks are always secrets.\n"
        "- The checkpoint of a job is `<checkpoints>/<job>`, a fixed path: it cannot contain a "
        "substitution, and two jobs cannot share one.\n"
        "- `run` writes to every sink except `kafka`, which it refuses before it changes anything "
        "unless the sink is `native`. "
        "[Choose a sink](../how-to/choose-a-sink.md) compares them."
    )
    profiles = (
        "`--profile NAME`, `HOLDFAST_PROFILE=NAME` or `profile=` in Python applies a "
        "profile to the "
        "rest of the file. Mappings merge by key; strings, lists and triggers replace; `null` "
        "removes a key. All profiles are checked whenever the file is read. [Use one project in "
        "dev and prod](../how-to/use-profiles.md) has examples."
    )
    schema = (
        "Editors can use the [JSON Schema](schemas/project.json); `holdfast init` writes it "
        "to a new project, `holdfast init --schema` to an existing one."
    )
    parts = [part for title, model in MODELS.items() for part in _section(title, model)]
    example = f"```yaml\n{EXAMPLE}```"
    return page("Project file", intro, example, "## Rules", rules, schema, *parts, profiles)


def keys_of(model: type[Declaration]) -> list[str]:
    """Return the keys as the file spells them."""
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
        return "list of strings"
    if schema.get("type") == "object" or "$ref" in schema:
        return "mapping"
    return {"boolean": "boolean", "integer": "number"}.get(schema.get("type", ""), "string")
