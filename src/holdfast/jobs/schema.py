"""The JSON Schema of the project file, for editors and for whoever generates one."""

from __future__ import annotations

from holdfast.jobs.project import Project


def project_schema() -> dict[str, object]:
    """Give the schema of `holdfast.yaml`, made from the models that read it."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Project.model_json_schema(),
        "title": "holdfast.yaml",
    }
