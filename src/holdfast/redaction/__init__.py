"""Keeps secrets out of everything that is printed or written.

`redact` takes a text, `redact_value` JSON-like data. What is known to be a secret
(`remember_secret`: what came from the environment, a file or a command's option) goes wherever
it stands and however it is encoded; what only looks like one goes by its shape or by the name
before it. Text without secrets comes out unchanged, and redacting twice changes nothing more.
"""

from __future__ import annotations

from holdfast.redaction.known import REDACTED, names_secret, remember_secret
from holdfast.redaction.text import excerpt, looks_secret, redact, redact_value

__all__ = [
    "REDACTED",
    "excerpt",
    "looks_secret",
    "names_secret",
    "redact",
    "redact_value",
    "remember_secret",
]
