"""The document around every result; a test compares it with what the commands print."""

from __future__ import annotations

from holdfast.findings import Severity

Field = tuple[dict[str, object], str]
"""The JSON Schema of a field, and what it means."""

TEXT: dict[str, object] = {"type": "string"}
TEXTS: dict[str, object] = {"type": "array", "items": TEXT}

ENVELOPE: dict[str, Field] = {
    "schema": (TEXT, "`holdfast.<command>/1`; the number changes only with an incompatible change"),
    "holdfast": (TEXT, "version of Holdfast"),
    "command": (TEXT, "the command's name"),
    "status": (
        {"enum": ["ok", "findings", "error"]},
        "`findings` if a finding has severity warning or higher; `error` if there is no result",
    ),
    "result": ({"type": ["object", "null"]}, "the result; null with an error"),
    "findings": ({"type": "array"}, "findings, most severe first"),
    "next": (TEXTS, "what to do next"),
    "error": ({"type": ["object", "null"]}, "the error that stopped the command, otherwise null"),
}

FINDING: dict[str, Field] = {
    "code": (TEXT, "one of the [codes](codes.md)"),
    "severity": (
        {"enum": [one.value for one in Severity]},
        "`fatal`: the next start fails or corrupts data",
    ),
    "message": (TEXT, "what was found, in one sentence"),
    "at": (TEXT, "the file, with line (from 1) and byte (from 0) if known"),
    "evidence": ({"type": "object"}, "the numbers and names behind the finding"),
    "why": (TEXT, "why it matters"),
    "next": (TEXTS, "what to do next, the safest first"),
}

ERROR: dict[str, Field] = {
    "code": (TEXT, "one of the [codes](codes.md)"),
    "message": (TEXT, "what went wrong"),
    "at": ({"type": ["string", "null"]}, "where, if known"),
    "why": (TEXT, "why it matters"),
    "next": (TEXTS, "what to do next, the safest first"),
}
