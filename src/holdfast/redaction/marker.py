"""The text that stands where a secret stood, and the letter for a blank that was encoded."""

from __future__ import annotations

REDACTED = "[redacted]"

BLANK = "\ue020"
"""A private letter: while a percent-encoded text is looked at, its blanks must not end values."""
