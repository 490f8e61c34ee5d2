"""Redacts a text: known secrets first, then what looks like one, then the same inside encodings."""

from __future__ import annotations

from functools import partial

from holdfast.redaction.assignments import redact_assignments
from holdfast.redaction.encodings import redact_base64, redact_percent_encoded
from holdfast.redaction.known import redact_known
from holdfast.redaction.shapes import redact_shapes

# A URL in a URL's query in a base64 header: nobody nests deeper by accident.
_DEEPEST = 4


def redact(text: str) -> str:
    """Give the text with every secret in it replaced by `[redacted]`."""
    return _redact(text, _DEEPEST)


def _redact(text: str, depth: int) -> str:
    text = redact_known(text)
    text = redact_shapes(text)
    text = redact_assignments(text)
    if depth:
        inner = partial(_redact, depth=depth - 1)
        text = redact_percent_encoded(text, inner)
        text = redact_base64(text, inner)
    return text
