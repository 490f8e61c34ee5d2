"""The JSON Schema of each command's document, from the dataclasses."""

from __future__ import annotations

import json
from enum import Enum
from typing import Any

from pydantic import TypeAdapter

from docs.generating.envelope import ENVELOPE, ERROR, FINDING, Field
from docs.generating.resulttypes import RESULTS, meanings, types_within

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def schema_files() -> dict[str, str]:
    """Return the text of `<command>.json` for every command."""
    return {f"{name}.json": _text(document_schema(name)) for name in RESULTS}


def document_schema(name: str) -> dict[str, Any]:
    """Describe what `holdfast <name> --json` prints."""
    cls = RESULTS[name]
    result = TypeAdapter(cls).json_schema(mode="serialization", ref_template="#/$defs/{model}")
    definitions = result.pop("$defs", {})
    definitions[cls.__name__] = result
    _describe(cls, definitions)
    document = _object(ENVELOPE)
    document["properties"]["schema"] = {"const": f"holdfast.{name}/1"}
    document["properties"]["command"] = {"const": name}
    reference = {"$ref": f"#/$defs/{cls.__name__}"}
    document["properties"]["result"] = {"anyOf": [reference, {"type": "null"}]}
    document["properties"]["findings"] = {"type": "array", "items": {"$ref": "#/$defs/finding"}}
    document["properties"]["error"] = {"anyOf": [{"$ref": "#/$defs/error"}, {"type": "null"}]}
    definitions |= {"finding": _object(FINDING), "error": _object(ERROR)}
    title = f"holdfast {name} --json"
    return {"$schema": DIALECT, "title": title, **document, "$defs": definitions}


def _object(fields: dict[str, Field]) -> dict[str, Any]:
    properties = {name: {**schema, "description": text} for name, (schema, text) in fields.items()}
    return {"type": "object", "properties": properties, "required": list(fields)}


def _describe(cls: type, definitions: dict[str, Any]) -> None:
    """Put each attribute's docstring beside its field, and require every field."""
    for one in types_within(cls):
        if issubclass(one, Enum):
            continue
        definition = definitions[one.__name__]
        definition["description"] = (one.__doc__ or "").strip()
        definition["required"] = list(definition["properties"])
        for name, text in meanings(one).items():
            definition["properties"][name]["description"] = text


def _text(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
