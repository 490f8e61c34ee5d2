"""The document around every result; a test compares it with what the commands print."""

from __future__ import annotations

from holdfast.findings import Severity

Field = tuple[dict[str, object], str]
"""The JSON Schema of a field, and what it means."""

TEXT: dict[str, object] = {"type": "string"}
TEXTS: dict[str, object] = {"type": "array", "items": TEXT}

ENVELOPE: dict[str, Field] = {
    "schema": (TEXT, "`holdfast.<command>/1`; the number changes only if a field had to change"),
    "holdfast": (TEXT, "the version that printed this"),
    "command": (TEXT, "the command's name"),
    "status": (
        {"enum": ["ok", "findings", "error"]},
        "`findings` where something is of warning or worse; `error` where there is no result",
    ),
    "result": ({"type": ["object", "null"]}, "what the command computed; null with an error"),
    "findings": ({"type": "array"}, "what the checks found, the worst first"),
    "next": (TEXTS, "commands or steps that help next"),
    "error": ({"type": ["object", "null"]}, "what stopped the command, else null"),
}

FINDING: dict[str, Field] = {
    "code": (TEXT, "one of the [codes](codes.md)"),
    "severity": (
        {"enum": [one.value for one in Severity]},
        "`fatal` means: the next start fails, or corrupts",
    ),
    "message": (TEXT, "what was found here, in one sentence"),
    "at": (TEXT, "the file, with line (from 1) and byte (from 0) where they are known"),
    "evidence": ({"type": "object"}, "the numbers and names that the finding rests on"),
    "why": (TEXT, "why it matters"),
    "next": (TEXTS, "what to do next, the safest first"),
}

ERROR: dict[str, Field] = {
    "code": (TEXT, "one of the [codes](codes.md)"),
    "message": (TEXT, "what went wrong"),
    "at": ({"type": ["string", "null"]}, "where, if it is known"),
    "why": (TEXT, "why it matters"),
    "next": (TEXTS, "what to do next, the safest first"),
}
