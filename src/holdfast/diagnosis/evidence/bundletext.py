"""Takes the secrets out of a file's bytes, whatever the file is."""

from __future__ import annotations

import json
import re

from holdfast.redaction import REDACTED, redact, redact_value

_KAFKA_MARK = b"\0"
"""Spark's Kafka source puts a zero byte before the text of its initial offsets."""
_HARMLESS = re.compile(r"v[0-9]{1,9}|-|\s*")
"""Lines of a log that are no JSON: its version, a source without an offset, an empty one."""


class UncleanableError(Exception):
    """Whether the bytes hold a secret can't be told, or it can't be taken out; says why."""


def without_secrets(data: bytes) -> bytes:
    """Return the bytes without secrets; raise UncleanableError."""
    mark = _KAFKA_MARK if data.startswith(_KAFKA_MARK) else b""
    text = _text_of(data[len(mark) :])
    if text is not None:
        return mark + _text_without_secrets(text).encode("utf-8")
    for encoding in ("latin-1", "utf-8"):
        seen = data.decode(encoding, "replace")
        if redact(seen) != seen:
            raise UncleanableError("it is binary, and something in it looks like a secret")
    return data


def _text_of(data: bytes) -> str | None:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text


def _text_without_secrets(text: str) -> str:
    """Redact line by line; a line that is damaged beside a secret goes whole.

    Where values begin and end can be told in JSON, but not in what is left of it.
    """
    suspicious = redact(text) != text
    lines = [_line_without_secrets(line, suspicious) for line in text.split("\n")]
    return redact("\n".join(lines))


def _line_without_secrets(line: str, suspicious: bool) -> str:
    name, colon, rest = "", "", line
    if not line.startswith(("{", "[", '"')):
        # A named source's line: its name, a colon, its JSON.
        name, colon, rest = line.partition(":")
    try:
        value: object = json.loads(rest or name)
        clean = redact_value(value)
        if clean == value:
            return line
        return name + colon + json.dumps(clean, ensure_ascii=False, separators=(",", ":"))
    except ValueError:
        return REDACTED if suspicious and not _HARMLESS.fullmatch(line) else line
    except RecursionError as error:
        raise UncleanableError("its JSON is nested too deeply to look for secrets") from error
