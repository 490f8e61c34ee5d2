"""Redacts a text: what is inside encodings first, then known secrets, then what looks like one.

Encodings come first because a known value that is cut out of the middle of one leaves two halves
that nobody can decode, and so recognise, any more.
"""

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


def looks_secret(text: str) -> bool:
    """Return whether something in a text looks like a secret, whatever is remembered as one."""
    return redact_assignments(redact_shapes(text)) != text


def _redact(text: str, depth: int) -> str:
    if depth:
        inner = partial(_redact, depth=depth - 1)
        text = redact_base64(redact_percent_encoded(text, inner), inner)
    return redact_assignments(redact_shapes(redact_known(text)))
