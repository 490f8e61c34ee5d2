"""Draws the page of `evidence --format markdown`, line by line as it is."""

from __future__ import annotations

from rich.console import Console

from holdfast.answers import Answer
from holdfast.diagnosis.evidence.report import markdown_report
from holdfast.diagnosis.inspection.fact import Evidence


def draw(answer: Answer[Evidence], console: Console) -> None:
    """Print the report; no line is wrapped, because Markdown's tables would break."""
    console.out(markdown_report(answer).rstrip("\n"), highlight=False)
