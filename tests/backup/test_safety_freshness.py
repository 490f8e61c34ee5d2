"""How old files have to be follows from the distance between the batches."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from holdfast.backup.safety import LEAST_MS, MOST_MS, Freshness, freshness_of
from holdfast.storage.reading import FileKind, Listed

NOW = 1_800_000_000_000
MINUTE = 60_000


def batches(age_ms: int, *distances: int, first: int = 0) -> list[Listed]:
    """List a checkpoint whose newest batch is this old, with so much between one and the next."""
    times = [NOW - age_ms]
    for distance in reversed(distances):
        times.append(times[-1] - distance)
    entries = [
        Listed(f"offsets/{first + number}", FileKind.FILE, 9, moment)
        for number, moment in enumerate(reversed(times))
    ]
    folder = Listed("offsets", FileKind.FOLDER, 0)
    return [Listed("metadata", FileKind.FILE, 9, min(times)), folder, *entries]


def seen(items: Sequence[Listed], *, by_trigger: bool = True) -> Freshness:
    found = freshness_of(items, NOW, by_trigger=by_trigger)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("age_ms", "distances", "fresh"),
    [
        (9_999, (), True),
        (10_000, (), False),
        (10_000, (1_000, 1_000, 1_000), False),
        (50_000, (MINUTE, MINUTE, MINUTE), True),
        (179_000, (MINUTE, MINUTE, MINUTE), True),
        (181_000, (MINUTE, MINUTE, MINUTE), False),
        (50_000, (MINUTE, 86_400_000, MINUTE), True),
        (29 * MINUTE, (86_400_000, 86_400_000), True),
        (30 * MINUTE, (86_400_000, 86_400_000), False),
        (-5_000, (), True),
    ],
    ids=str,
)
def test_a_query_is_noticed_by_its_trigger(
    age_ms: int, distances: tuple[int, ...], fresh: bool
) -> None:
    assert seen(batches(age_ms, *distances)).is_fresh is fresh


def test_only_the_newest_batches_count() -> None:
    slow, fast = (86_400_000,) * 30, (1_000,) * 10
    assert seen(batches(11_000, *slow, *fast)).window_ms == LEAST_MS
    assert seen(batches(11_000, *fast, *slow)).window_ms == MOST_MS


def test_batches_are_ordered_by_number_and_not_by_name() -> None:
    assert seen(batches(50_000, *(MINUTE,) * 12, first=95)).usual_ms == MINUTE


def test_without_the_trigger_seconds_are_enough() -> None:
    found = seen(batches(50_000, MINUTE, MINUTE), by_trigger=False)
    assert not found.is_fresh and found.window_ms == LEAST_MS


def test_it_says_what_was_seen_and_how_long_to_wait() -> None:
    found = seen(batches(42_000, MINUTE, MINUTE))
    assert found.words.startswith("offsets/2 changed 42 s ago, and batches run about every 60 s")
    assert found.advice.endswith("when nothing has changed for 180 s (in 138 s)")
    assert "every" not in seen(batches(4_000)).words


def test_what_tells_no_time_tells_nothing() -> None:
    assert freshness_of([Listed("offsets/1", FileKind.FILE, 9)], NOW, by_trigger=True) is None
    odd = [Listed(f"offsets/{name}", FileKind.FILE, 9, NOW) for name in ("x", ".1.crc", "1.tmp")]
    assert seen(odd).usual_ms is None
