"""The page of exit statuses, from the contract and the registry."""

from __future__ import annotations

from docs.generating.codes import FINDINGS, IN_ORDER
from docs.generating.markdown import page, table
from holdfast.answers import FINDINGS_STATUS

CONVICTED = 60

MEANINGS = {
    0: "success; no findings, or only notes",
    1: "internal error: a bug in Holdfast",
    2: "usage error: wrong command line or location",
    FINDINGS_STATUS: "success, with at least one finding of severity warning or higher",
    10: "the project file is missing or invalid",
    20: "the checkpoint cannot be read, or a file that the command needs is damaged",
    21: "not a checkpoint, or the location does not exist",
    22: "in use: another driver holds the lease, or a query, backup or restore is running",
    30: "start refused: rows would be lost or duplicated",
    31: "start refused: Holdfast cannot determine whether rows would be lost or duplicated",
    32: "start refused: it is right only under conditions that a person must confirm",
    40: "a plan, a restore, or a statement about a pending batch is refused: it is not safe",
    41: "the plan is stale: something that it was made from has changed",
    42: "a restore or a plan was interrupted and must be finished or undone first",
    50: "the sink cannot be written, or must not be",
    51: "a source cannot be loaded, or a transform cannot be applied",
    52: "Spark cannot be started",
    53: "a job failed while it was running",
    CONVICTED: "`demo` found a lost or duplicated row",
    129: "the terminal or session was closed (SIGHUP); `run` stopped as for SIGTERM",
    130: "interrupted (Ctrl-C); `run` let running deliveries finish, or a second signal "
    "stopped it at once",
    143: "terminated (SIGTERM); `run` let running deliveries finish, or a second signal "
    "stopped it at once",
}

RESERVED = {
    61: "the audit is inconclusive",
}
"""Statuses that are reserved for commands that do not exist yet."""


def exit_statuses_page() -> str:
    """Return the page: every status, what it means and which codes lead to it."""
    intro = (
        "Scripts can rely on these numbers: new ones are added, existing ones never change. A "
        "command that only reads exits with 0 or 3 when it has a result; with any other status "
        "there is no result, and `--json` has an `error` with the code. `check` has a result with "
        "30, 31 and 32 as well: the status is its verdict. `run` also prints a "
        "result when jobs failed, were refused or were stopped. It exits with the status of the "
        "first job in lineage order that did not succeed, and lists the code among the findings."
    )
    used = table(
        ("status", "meaning", "codes"),
        ((f"{status}", meaning, _codes(status)) for status, meaning in MEANINGS.items()),
    )
    kept = table(("status", "reserved for"), ((f"{one}", text) for one, text in RESERVED.items()))
    later = "Reserved for commands that do not exist yet; no command exits with them today."
    return page("Exit statuses", intro, used, "## Reserved", later, kept)


def _codes(status: int) -> str:
    if status == FINDINGS_STATUS:
        return "any finding of warning, error or fatal"
    numbers = [
        one.number
        for one in IN_ORDER
        if one.exit_status == status and not one.number.startswith(FINDINGS)
    ]
    return ", ".join(f"[{one}](codes.md#{one.lower()})" for one in numbers)
