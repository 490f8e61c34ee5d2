"""The page of exit statuses, from the contract and the registry."""

from __future__ import annotations

from docs.generating.codes import FINDINGS
from docs.generating.markdown import page, table
from holdfast.answers import FINDINGS_STATUS
from holdfast.codes import CODES

CONVICTED = 60

MEANINGS = {
    0: "done, and nothing to report; also where findings are mere information",
    1: "failed in a way that nobody foresaw: a bug",
    2: "usage: the command line or a location asks for something that can't be",
    FINDINGS_STATUS: "done, and something of warning or worse was found",
    10: "the project file is not usable",
    20: "the checkpoint can't be read, or is damaged where the command needs it",
    21: "not a checkpoint, or nothing is there",
    22: "in use: another driver holds the lease, or a query, backup or restore is at work",
    30: "a start is refused: rows would be lost or doubled",
    31: "a start is refused: nobody can say whether rows would be lost or doubled",
    40: "a restore, or a statement about a pending batch, is refused: it would not be safe",
    42: "an act in the journal is unfinished",
    50: "the sink of a job can't or mustn't be written",
    51: "a source can't be loaded, or a transform can't be applied",
    52: "Spark can't be started",
    53: "a job failed while it ran",
    CONVICTED: "`demo` found a row lost or doubled",
    130: "interrupted (Ctrl-C); `run` let deliveries finish, or a second signal stopped it at once",
    143: "terminated (SIGTERM); `run` let deliveries finish, or a second signal stopped it at once",
}

RESERVED = {
    32: "the restart is safe under conditions",
    41: "a plan is stale",
    61: "the audit is inconclusive",
}
"""Numbers that the contract keeps for commands to come."""


def exit_statuses_page() -> str:
    """Give the page: every status, what it means and which codes lead to it."""
    intro = (
        "A script can rely on these numbers: they are added to, never changed. A command that "
        "looks gives a result and ends with 0 or 3; any other status means that there is no "
        "result, and `--json` then holds an `error` with the code. `run` gives its result also "
        "where jobs failed, were refused or were stopped, and ends with the status of the first "
        "job in lineage order that did not end well; its code is among the findings."
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
