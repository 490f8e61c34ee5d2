"""Draws the journal as an incident report in Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from holdfast.answers import Answer
from holdfast.redaction import redact
from holdfast.remedy.results import ActEvidence, JournalEntry, JournalPlace, JournalReport

_STATES = {
    "applied": "applied, and not undone",
    "undone": "undone",
    "given-up": "given up: what it wrote stays, the rest was not computed",
    "open": "**interrupted or under way: neither finished nor undone**",
    "void": "void: it changed nothing",
    "restored": "restored",
    "finished": "interrupted, then finished",
    "taken-back": "interrupted, then undone",
    "unchanged": "nothing had to be changed",
}
_ROWS = (
    ("query id", "query_id"),
    ("last planned batch", "last_planned"),
    ("last committed batch", "last_committed"),
    ("pending batch", "pending"),
    ("next start", "next_start"),
    ("newest batch in the sink", "sink"),
    ("files", "files"),
    ("bytes", "size_bytes"),
    ("digest", "digest"),
)


def draw_incident(answer: Answer[JournalReport], console: Console) -> None:
    """Print the report: each act with who, when, from which plan, its steps and the evidence."""
    for line in _report(answer):
        console.print(redact(line), soft_wrap=True, markup=False, highlight=False)


def _report(answer: Answer[JournalReport]) -> Iterator[str]:
    yield "# What was done"
    for place in answer.result.places:
        yield from _place(place)
    if answer.findings:
        yield ""
        yield "## Findings"
        yield ""
        for one in answer.findings:
            yield f"- {one.severity.value} {one.code}: {_cell(one.message)}"


def _place(place: JournalPlace) -> Iterator[str]:
    yield ""
    yield f"## {place.job or 'Checkpoint'}: `{place.location}`"
    if not place.acts:
        yield ""
        yield "Nothing was applied, restored or undone here."
    for act in reversed(place.acts):
        yield from _act(act)


def _act(act: JournalEntry) -> Iterator[str]:
    yield ""
    yield f"### {act.kind} `{act.id}`"
    yield ""
    done = act.kind == "undo" and act.state == "undone"
    yield f"- result: {'done' if done else _STATES.get(act.state, act.state)}"
    yield f"- began: {act.at or 'unknown'}"
    yield f"- ended: {act.ended_at or 'no record of an end'}"
    yield f"- by: {_cell(act.by or 'unknown')}"
    if act.plan is not None:
        yield f"- plan: `{act.plan}`"
    if act.undoes is not None:
        yield f"- undoes: `{act.undoes}`"
    if act.backup is not None:
        yield f"- backup made first: `{act.backup}`"
    if not act.intact:
        yield "- **its records were changed after they were written (HF4616)**"
    for note in act.notes:
        yield f"- note: {_cell(note)}"
    if act.steps:
        yield ""
        yield "| # | step | what it does | state |"
        yield "|---|---|---|---|"
        for step in act.steps:
            cells = (str(step.number), step.act, step.detail, step.event)
            yield f"| {' | '.join(map(_cell, cells))} |"
    yield from _evidence(act.before, act.after)


def _evidence(before: ActEvidence | None, after: ActEvidence | None) -> Iterator[str]:
    if before is None and after is None:
        return
    yield ""
    yield "| evidence | before | after |"
    yield "|---|---|---|"
    yield f"| at | {_value(before, 'at')} | {_value(after, 'at')} |"
    for title, name in _ROWS:
        yield f"| {title} | {_value(before, name)} | {_value(after, name)} |"
    for word, one in (("before", before), ("after", after)):
        if one is not None and one.unreadable is not None:
            yield f"| unreadable {word} | {_cell(one.unreadable)} | |"


def _value(one: ActEvidence | None, name: str) -> str:
    value = None if one is None else getattr(one, name)
    if value is None:
        if one is None or one.unreadable is not None:
            return "unknown"
        return "not asked" if name == "sink" else "none"
    shown = value[:16] if name == "digest" else value
    return _cell(str(shown))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
