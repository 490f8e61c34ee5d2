"""The one border where pydantic's errors become problems in a file, in Holdfast's own words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from holdfast.jobs.projectfile import tree
from holdfast.jobs.projectfile.declaration import Declaration
from holdfast.jobs.projectfile.tree import Problem
from holdfast.redaction import excerpt, looks_secret, names_secret
from holdfast.wording import nearest

_EXPECTED: Mapping[str, str] = {
    "string_type": "a string",
    "string_too_short": "a non-empty string",
    "bool_type": "true or false",
    "dict_type": "a mapping",
    "model_type": "a mapping",
    "tuple_type": "a list",
}
_NAMES: Mapping[str, str] = {
    "project": "a name of lowercase letters, digits and hyphens that begins with a letter",
    "jobs": "a name of lowercase letters, digits and hyphens that begins with a letter",
    "profiles": "a name of lowercase letters, digits and hyphens that begins with a letter",
    "sources": "a name of letters, digits and underscores, as in SQL",
    "transform": "module:function",
    "function": "module:function",
}
_OF_A_FORM = frozenset({"literal_error", "string_pattern_mismatch", "bool_type", "tuple_type"})
"""Errors at a value that has to be one of a few, or a name: it is shown unless it may be a
secret."""
_SCALARS_ONLY = ("conf", "options")
_MOST_SHOWN = 60
_UNKNOWN = "extra_forbidden"

Schema = Mapping[str, object]


def problems_of(
    failure: ValidationError, model: type[Declaration], root: tree.Node
) -> Iterator[Problem]:
    """Yield each of pydantic's errors as a problem with its place in the file."""
    schema = model.model_json_schema()
    errors = failure.errors(include_url=False, include_input=False)
    meant = {_meant(one["loc"], schema) for one in errors if one["type"] == _UNKNOWN}
    for error in errors:
        # A required key that is there, misspelled, is reported once, where it stands.
        if error["type"] != "missing" or error["loc"] not in meant:
            yield _problem(error, schema, root)


def _meant(path: Sequence[str | int], schema: Schema) -> tuple[str | int | None, ...]:
    """Return the path of the key that a misspelled one is nearest to."""
    known = _mapping(_schema_at(schema, path[:-1]).get("properties"))
    return (*path[:-1], nearest(str(path[-1]), known))


def _problem(error: ErrorDetails, schema: Schema, root: tree.Node) -> Problem:
    path, kind = error["loc"], error["type"]
    if kind == "rule":
        return _broken_rule(error, root)
    if kind == "missing":
        message = f"{path[-1]} is missing in {_spelled(path[:-1])}"
        return Problem(tree.key_mark(root, path[:-1]), "HF1105", message)
    if kind == _UNKNOWN:
        return Problem(tree.key_mark(root, path), "HF1103", _unknown_key(path, schema))
    if path[-1] == "[key]":
        path = path[:-1]
        message = f"{path[-1]!r} under {path[-2]} is not {_NAMES[str(path[-2])]}"
        return Problem(tree.key_mark(root, path), "HF1104", message)
    node = tree.node_at(root, path)
    secret = "storage" in path or names_secret(str(path[-1]))
    found = _shown(node, of_a_form=kind in _OF_A_FORM and not secret)
    message = f"{_spelled(path)} must be {_expected(kind, path, schema)}; found {found}"
    if kind == "literal_error" and isinstance(node, tree.Leaf):
        near = nearest(str(node.value), _choices(path, schema))
        message += f"; did you mean {near}?" if near else ""
    return Problem(node.mark if node else tree.key_mark(root, path), "HF1104", message)


def _broken_rule(error: ErrorDetails, root: tree.Node) -> Problem:
    context = error.get("ctx", {})
    path = (*error["loc"], context["key"]) if context["key"] else error["loc"]
    message = f"{_spelled(error['loc'])}: {context['message']}"
    return Problem(tree.key_mark(root, path), context["code"], message)


def _unknown_key(path: Sequence[str | int], schema: Schema) -> str:
    known = [*_mapping(_schema_at(schema, path[:-1]).get("properties"))]
    near = nearest(str(path[-1]), known)
    hint = f"did you mean {near}?" if near else f"known keys: {', '.join(known)}"
    return f"unknown key {path[-1]} in {_spelled(path[:-1])}; {hint}"


def _expected(kind: str, path: Sequence[str | int], schema: Schema) -> str:
    if kind == "literal_error":
        note = _schema_at(schema, path).get("description")
        hint = f" ({note})" if note else ""
        choices = _choices(path, schema)
        return f"one of {', '.join(choices)}{hint}" if choices else "another"
    if kind == "string_pattern_mismatch":
        return _NAMES[str(path[-1])]
    if kind == "string_type" and len(path) > 1 and path[-2] in _SCALARS_ONLY:
        return "a string, number or boolean"
    return _EXPECTED.get(kind, "a different value")


def _choices(path: Sequence[str | int], schema: Schema) -> tuple[str, ...]:
    choices = _schema_at(schema, path).get("enum", ())
    return tuple(map(str, choices)) if isinstance(choices, list) else ()


def _schema_at(schema: Schema, path: Sequence[str | int]) -> Schema:
    """Follow a path through a JSON Schema; an empty one where it leads nowhere."""
    here = schema
    for step in path:
        properties = _mapping(here.get("properties"))
        others = (
            here.get("additionalProperties"),
            *_mapping(here.get("patternProperties")).values(),
        )
        other = next(filter(_mapping, others), None)
        here = _resolved(_mapping(properties.get(str(step), other)), schema)
    return here


def _resolved(here: Schema, schema: Schema) -> Schema:
    choices = here.get("anyOf")
    if isinstance(choices, list):
        here = _mapping(choices[0])
    reference = here.get("$ref")
    if isinstance(reference, str):
        return _mapping(_mapping(schema["$defs"])[reference.rpartition("/")[2]])
    return here


def _mapping(value: object) -> Schema:
    return value if isinstance(value, dict) else {}


def _spelled(path: Sequence[str | int]) -> str:
    return ".".join(map(str, path)) or "the project file"


def _shown(node: tree.Node | None, *, of_a_form: bool) -> str:
    """Say what stands there; a text that could be a secret is not shown."""
    if isinstance(node, tree.Items):
        return "a list"
    if isinstance(node, tree.Entries):
        return "a mapping"
    if node is None or node.value is None:
        return "nothing"
    if isinstance(node.value, bool):
        return str(node.value).lower()
    if of_a_form and node.value and not looks_secret(node.value):
        return repr(excerpt(node.value, _MOST_SHOWN))
    return "a string" if node.value else "an empty string"
