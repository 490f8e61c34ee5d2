"""The page of exit statuses, from the contract and the registry."""

from __future__ import annotations

from docs.generating.codes import FINDINGS
from docs.generating.markdown import page, table
from holdfast.answers import FINDINGS_STATUS
from holdfast.codes import CODES

MEANINGS = {
    0: "done, and nothing to report; also where findings are mere information",
    1: "failed in a way that nobody foresaw: a bug",
    2: "usage: the command line or a location asks for something that can't be",
    FINDINGS_STATUS: "done, and something of warning or worse was found",
    10: "the project file is not usable",
    20: "the checkpoint can't be read, or is damaged where the command needs it",
    21: "not a checkpoint, or nothing is there",
    22: "in use: a query, a backup or a restore is at work there",
    40: "a restore is refused: it would not be safe",
    42: "an act in the journal is unfinished",
    130: "interrupted (Ctrl-C)",
    143: "terminated (SIGTERM)",
}

RESERVED = {
    30: "the restart is unsafe",
    31: "whether the restart is safe is unknown",
    32: "the restart is safe under conditions",
    41: "a plan is stale",
    50: "sink",
    51: "source",
    52: "Spark failed to start",
    53: "a job failed while running",
    60: "the audit convicts",
    61: "the audit is inconclusive",
}
"""Numbers that the contract keeps for commands to come."""


def exit_statuses_page() -> str:
    """Give the page: every status, what it means and which codes lead to it."""
    intro = (
        "A script can rely on these numbers: they are added to, never changed. A command that "
        "gives a result ends with 0 or 3; any other status means that there is no result, and "
        "`--json` then holds an `error` with the code."
    )
    used = table(
        ("status", "meaning", "codes"),
        ((f"{status}", meaning, _codes(status)) for status, meaning in MEANINGS.items()),
    )
    kept = table(("status", "kept for"), ((f"{one}", text) for one, text in RESERVED.items()))
    later = "These are kept for commands that do not exist yet; nothing ends with them today."
    return page("Exit statuses", intro, used, "## Kept for later", later, kept)


def _codes(status: int) -> str:
    if status == FINDINGS_STATUS:
        return "any finding of warning, error or fatal"
    numbers = [
        one.number
        for one in CODES
        if one.exit_status == status and not one.number.startswith(FINDINGS)
    ]
    return ", ".join(f"[{one}](codes.md#{one.lower()})" for one in numbers)
