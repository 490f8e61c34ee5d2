"""Draws what was recorded of each query, and what is not known of it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from holdfast.answers import Answer
from holdfast.cli.drawing.findings import draw_findings, draw_line
from holdfast.plurals import counted
from holdfast.restart.recorded import RecordedQuery, RecordReport


def draw_record(answer: Answer[RecordReport], console: Console) -> None:
    """Draw each recorded query."""
    for number, one in enumerate(answer.result.recorded):
        if number:
            console.print()
        done = "recorded" if one.is_new else "already recorded"
        console.print(Text.assemble(Text(f"{one.job or one.location}: {done}", "bold green"),
                                    " (Holdfast did not run it)"))  # fmt: skip
        for label, text in _lines(one):
            draw_line(label, text, console)
    if answer.findings:
        console.print()
        draw_findings(answer.findings, answer.location, console)


def _lines(one: RecordedQuery) -> Iterator[tuple[str, str]]:
    yield "id", one.query_id or "the checkpoint does not exist yet"
    mode = "unknown output mode" if one.output_mode is None else f"{one.output_mode} mode"
    yield "plan", f"Spark {one.spark}, {mode}, {_operators(one)}"
    yield "from", "; ".join(one.sources) or "nothing known"
    yield "sink", one.sink or "not known"
    if one.functions:
        yield "code", counted(len(one.functions), "Python function")
    if one.missing:
        yield "note", f"not known: {'; '.join(one.missing)}"
    yield "at", f"{one.recorded_at} in {one.file}"
    yield "next", _counts(one)


def _operators(one: RecordedQuery) -> str:
    if one.operators is None:
        return "stateful operators unknown"
    return ", ".join(one.operators) or "no state"


def _counts(one: RecordedQuery) -> str:
    if one.counts:
        return "holdfast check compares with it now"
    return "holdfast check compares with it once the next batch is committed"
