"""Writes the report of an audit: what was killed where, how often, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.crashes.cases import OCCASIONS
from tests.crashes.controls import CONTROLS
from tests.crashes.coverage import MOMENTS
from tests.crashes.running import Verdict
from tests.spark.sinks.subjects import LASTING


def report(verdicts: Sequence[Verdict], acquitted: Sequence[str], seed: int, seconds: float) -> str:
    """Give the report as Markdown."""
    return "\n".join(
        [
            "# Crash audit",
            "",
            *_summary(verdicts, acquitted, seed, seconds),
            "",
            "## By sink and point",
            "",
            *_table(verdicts),
            "",
            "## The moments of the fault model",
            "",
            *_moments(verdicts),
            "",
            "## What failed",
            "",
            *(_failures(verdicts, acquitted) or ["Nothing."]),
            "",
        ]
    )


def _summary(
    verdicts: Sequence[Verdict], acquitted: Sequence[str], seed: int, seconds: float
) -> Iterator[str]:
    yield "| cases | kills | failed | broken sinks convicted | seed | seconds |"
    yield "|--:|--:|--:|--:|--:|--:|"
    failed = sum(1 for one in verdicts if one.told)
    kills = sum(one.kills for one in verdicts)
    convicted = f"{len(CONTROLS) - len(acquitted)} of {len(CONTROLS)}"
    yield f"| {len(verdicts)} | {kills} | {failed} | {convicted} | {seed} | {seconds:.0f} |"
    yield ""
    yield "Memory and console are for development and keep nothing: they are not killed. Sources"
    yield "that can't replay, and side effects of users' functions, are not covered."


def _table(verdicts: Sequence[Verdict]) -> Iterator[str]:
    points = list(dict.fromkeys(one.case.point for one in verdicts))
    subjects = [one.name for one in LASTING if any(v.case.subject is one for v in verdicts)]
    yield f"A cell tells the occasions: {', '.join(OCCASIONS)}."
    yield ""
    yield f"| point | {' | '.join(subjects)} |"
    yield f"|---|{':-:|' * len(subjects)}"
    for point in points:
        cells = [_cell(verdicts, subject, point) for subject in subjects]
        yield f"| `{point}` | {' | '.join(cells)} |"


def _cell(verdicts: Sequence[Verdict], subject: str, point: str) -> str:
    found = {
        one.case.occasion: not one.told
        for one in verdicts
        if (one.case.subject.name, one.case.point) == (subject, point)
    }
    return " ".join("ok" if found[one] else "FAILED" for one in OCCASIONS if one in found)


def _moments(verdicts: Sequence[Verdict]) -> Iterator[str]:
    yield "| | moment | killed at | kills | tests |"
    yield "|---|---|---|--:|---|"
    for moment in MOMENTS:
        kills = sum(
            one.kills
            for one in verdicts
            if one.case.point in moment.points and one.case.subject.family == moment.family
        )
        points = ", ".join(f"`{point}`" for point in moment.points)
        tests = ", ".join(f"`{test.partition('::')[2]}`" for test in moment.tests)
        yield f"| {moment.family} | {moment.what} | {points} | {kills} | {tests} |"


def _failures(verdicts: Sequence[Verdict], acquitted: Sequence[str]) -> list[str]:
    lines = [f"- `{name}` was not convicted" for name in acquitted]
    for one in verdicts:
        if one.told:
            lines.append(f"- {one.case.name}: {'; '.join(one.told)}")
            lines.append(f"  again: `{one.command}`")
    return lines
