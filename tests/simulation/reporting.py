"""Writes what was explored into docs/reports/simulation.md, between its marks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from tests.simulation.auditing import Tally, every_place
from tests.simulation.hunting import Hunted
from tests.simulation.scenarios import SCENARIOS

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "simulation.md"


def scenario_table() -> str:
    """Return the scenarios as a table."""
    rows = [f"| `{one.name}` | {one.about} | {', '.join(one.storages)} |" for one in SCENARIOS]
    return "\n".join(("| scenario | what happens | storages |", "|---|---|---|", *rows))


def mutant_table(hunted: Sequence[Hunted]) -> str:
    """Return the mutants as a table, each with the schedules that it took to find it."""
    rows = []
    for one in hunted:
        kind = "control" if one.mutant.is_control else "fixed bug"
        where = ", ".join(f"`{name}`" for name in one.mutant.scenarios)
        told = (f"`{one.mutant.name}`", one.mutant.about, kind, where, one.words)
        rows.append(f"| {' | '.join(told)} |")
    head = "| mutant | the bug | kind | scenarios | schedules: median (fewest to most) |"
    return "\n".join((head, "|---|---|---|---|---:|", *rows))


def figures(tally: Tally) -> str:
    """Return what an audit explored, in a few lines."""
    rate = tally.schedules / tally.seconds if tally.seconds else 0.0
    return "\n".join(
        (
            f"- {tally.schedules:,} schedules, {tally.distinct:,} of them distinct by their trace",
            f"- {rate:,.0f} schedules per second of processor time",
            f"- every schedule with a single decision on {len(tally.exhausted)} of "
            f"{len(every_place())} combinations of scenario and storage",
            f"- {len(tally.failures)} failures",
        )
    )


def put(name: str, text: str, page: Path = PAGE) -> None:
    """Replace a generated part of the page."""
    content = page.read_text(encoding="utf-8")
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    pattern = re.compile(f"{re.escape(begin)}.*?{re.escape(end)}", re.DOTALL)
    if not pattern.search(content):
        raise ValueError(f"{page} has no part {name}")
    changed = pattern.sub(lambda _: f"{begin}\n{text}\n{end}", content)
    page.write_text(changed, encoding="utf-8")
