"""Cuts a text for a message; secrets go before the cut, because half of one is not recognised."""

from __future__ import annotations

from holdfast.redaction.text import redact

_SEEN = 4096
"""Far more than any message shows, so that what is cut off here can't be half shown there."""


def excerpt(text: str, width: int) -> str:
    """Give the beginning of a text without secrets, with an ellipsis where something is missing."""
    clean = redact(text[:_SEEN])
    return clean if len(clean) <= width else clean[: width - 1].rstrip() + "…"
