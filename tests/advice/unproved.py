"""Steps that nobody has followed yet. The list only gets shorter."""

from __future__ import annotations

UNPROVED: frozenset[tuple[str, str]] = frozenset()
"""Code and step."""

UNPROVED_WRONG: frozenset[str] = frozenset()
"""Texts of wrong fixes."""
