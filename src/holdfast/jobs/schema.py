"""The JSON Schema of the project file, for editors and for whoever generates one."""

from __future__ import annotations

import json

from holdfast.jobs.project import Project


def project_schema() -> dict[str, object]:
    """Give the schema of `holdfast.yaml`, made from the models that read it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Project.model_json_schema(),
        "title": "holdfast.yaml",
    }


def schema_text() -> str:
    """Give the schema as it is written to a file."""
    return json.dumps(project_schema(), indent=2, ensure_ascii=False) + "\n"
