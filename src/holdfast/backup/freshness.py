"""Judges by the age of its files whether a query runs on a checkpoint without a lease. Pure.

A query that Holdfast did not start holds no lease: only its files tell. How long they may be old
while it runs follows from its trigger, and that from the distance between its batches.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from holdfast.storage.reading import Listed

LEAST_MS = 10_000
"""A checkpoint that changed this short ago may have a running query, whatever its trigger."""
MOST_MS = 30 * 60_000
"""No restore has to wait for longer than this, whatever the distance between the batches."""
_DISTANCES = 3
"""A query that left out this many batches in a row is taken to be over."""
_NEWEST = 11
"""So many of the newest batches are looked at."""


@dataclass(frozen=True)
class Freshness:
    """How old the newest file is, and how old it has to be."""

    path: str
    age_ms: int
    usual_ms: int | None
    """The usual distance between batches; None where it does not count."""
    window_ms: int

    @property
    def is_fresh(self) -> bool:
        """Whether a query may be running."""
        return self.age_ms < self.window_ms

    @property
    def words(self) -> str:
        """Say what was seen."""
        seen = f"{self.path} changed {_seconds(max(self.age_ms, 0))} ago"
        if self.usual_ms is None or self.window_ms <= LEAST_MS:
            return f"{seen}: a query may be running that holds no lease"
        return (
            f"{seen}, and batches come about every {_seconds(self.usual_ms)}: a query may be "
            "running that holds no lease"
        )

    @property
    def advice(self) -> str:
        """Say how long to wait."""
        left = _seconds(self.window_ms - self.age_ms)
        return (
            f"stop the query, and try again when nothing has changed for {_seconds(self.window_ms)}"
            f" (in {left})"
        )


def freshness_of(items: Iterable[Listed], now_ms: int, *, by_trigger: bool) -> Freshness | None:
    """Look at the newest file; None where no file tells when it was written.

    `by_trigger` takes the distance between the newest batches into account.
    """
    times = [(item.modified_ms, item.path) for item in items if item.modified_ms is not None]
    if not times:
        return None
    newest_ms, path = max(times)
    usual = _usual_distance(times) if by_trigger else None
    window = LEAST_MS if usual is None else min(max(LEAST_MS, _DISTANCES * usual), MOST_MS)
    return Freshness(path, now_ms - newest_ms, usual, window)


def _usual_distance(times: Iterable[tuple[int, str]]) -> int | None:
    """Return the median distance between the newest batches, None for fewer than two."""
    batches = [
        (int(path.removeprefix("offsets/")), modified_ms)
        for modified_ms, path in times
        if path.startswith("offsets/") and path.removeprefix("offsets/").isdecimal()
    ]
    written = sorted(modified_ms for _, modified_ms in sorted(batches)[-_NEWEST:])
    distances = [later - earlier for earlier, later in pairwise(written)]
    return int(statistics.median(distances)) if distances else None


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:,.0f} s"
