"""Judges what a plain reader saw: lost, doubled, invented, torn, or every row exactly once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tests.spark.sinks.plainreading import Rows


@dataclass(frozen=True)
class Seen:
    """What is there at a moment, by readers that are not ours."""

    rows: Rows
    ledger: list[int]
    """The batches that the sink's own memory names, each as often as it does."""
    commits: list[int]
    """The batches that Spark committed."""


def judge_between(seen: Seen, states: Sequence[Rows], *, whole_batches: bool) -> list[str]:
    """Judge what a reader may see after a kill; `states` are the outputs after each whole batch."""
    if whole_batches:
        told = [] if seen.rows in states else [f"torn: {_shortly(seen.rows)} is no whole batch"]
    else:
        most = states[0]
        for state in states[1:]:
            most = most | state
        told = [f"doubled or invented: {_shortly(seen.rows - most)}"] if seen.rows - most else []
    newest = max(seen.ledger, default=-1)
    if newest > max(seen.commits, default=-1) + 1:
        told.append(f"the ledger is at batch {newest}, Spark committed {seen.commits}")
    return told


def judge_end(seen: Seen, expected: Rows, batches: int, *, has_ledger: bool = True) -> list[str]:
    """Judge what has to be there when everything was delivered."""
    missing, more = expected - seen.rows, seen.rows - expected
    doubled = {row: count for row, count in more.items() if row in expected}
    invented = {row: count for row, count in more.items() if row not in expected}
    told = [f"{what}: {_shortly(rows)}" for what, rows in
            (("lost", missing), ("doubled", doubled), ("invented", invented)) if rows]  # fmt: skip
    if seen.commits != list(range(batches)):
        told.append(f"Spark committed {seen.commits}, and not {batches} batches")
    if has_ledger and sorted(seen.ledger) != list(range(batches)):
        told.append(f"the ledger is not contiguous: {seen.ledger}, for {batches} batches")
    return told


def judge_no_op(before: Seen, after: Seen, batches_run: int) -> list[str]:
    """Judge one more run: nothing is left to do, and nothing changes."""
    told = [f"one more run delivered {batches_run} batches"] if batches_run else []
    if after != before:
        told.append("one more run changed the output")
    return told


def _shortly(rows: object) -> str:
    text = repr(dict(rows) if isinstance(rows, dict) else rows)
    return text if len(text) < 200 else f"{text[:200]}…"
