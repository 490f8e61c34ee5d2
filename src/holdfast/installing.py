"""The one place that says how Holdfast and its extras are installed."""

from __future__ import annotations


def pip_line(extra: str) -> str:
    """Return what to type to install an extra; Holdfast is on no package index yet."""
    return f'pip install ".[{extra}]" in a clone of Holdfast'
