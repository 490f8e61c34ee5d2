"""Watermarks against those of the last run."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.records.facts import WatermarkFacts
from holdfast.restart.rules.rule import on_history
from holdfast.restart.start import QueryPair
from holdfast.restart.verdict import Change, Verdict


@on_history("HF3130", "HF3131")
def watermark_delay(pair: QueryPair) -> Iterator[Change]:
    """Ask about a raised delay, and about a lowered one."""
    for index, (then, after) in enumerate(_matched(pair)):
        if then.delay_ms == after.delay_ms:
            continue
        subject = f"the delay of watermark {index} on {after.column}"
        old, new = _duration(then.delay_ms), _duration(after.delay_ms)
        if after.delay_ms > then.delay_ms:
            why = (
                "the stored watermark does not go back, and state that it closed is gone: rows "
                "that the new delay still allows are dropped until time has caught up"
            )
            condition = f"rows up to {new} late may be dropped until the watermark has caught up"
            yield Change("HF3130", Verdict.CONDITIONAL, subject, old, new, why, condition)
        else:
            why = "state closes earlier from now on; rows counted under the old delay stay"
            condition = f"rows that came between {new} and {old} late may stay counted"
            yield Change("HF3131", Verdict.CONDITIONAL, subject, old, new, why, condition)


@on_history("HF3132")
def watermark_column(pair: QueryPair) -> Iterator[Change]:
    """Ask about a watermark on another column, or computed from other rows."""
    same_input = all(then.input == after.input for then, after in pair.operators)
    for index, (then, after) in enumerate(_matched(pair)):
        if then.column == after.column and then.rows != after.rows and same_input:
            yield _other_rows(index, then, after)
        if then.column != after.column:
            yield Change(
                "HF3132",
                Verdict.CONDITIONAL,
                f"the column of watermark {index}",
                then.column,
                after.column,
                "the stored watermark was computed from the old column: rows whose new column is "
                "before it are dropped",
                "the new column is never before the stored watermark",
            )


def _other_rows(index: int, then: WatermarkFacts, after: WatermarkFacts) -> Change:
    """Ask about a watermark that moved, such as above a filter of old or future times."""
    return Change(
        "HF3132",
        Verdict.CONDITIONAL,
        f"the rows that watermark {index} is computed from",
        "; ".join(then.rows) or "none",
        "; ".join(after.rows) or "none",
        "rows that reach the state are the same, and the watermark moves on with other ones: it "
        "closes state and drops late rows at other times",
        "rows may be dropped as late, or stay counted, that the other order keeps or drops",
    )


@on_history("HF3133")
def watermark_number(pair: QueryPair) -> Iterator[Change]:
    """Ask about added and removed watermarks."""
    before, now = pair.before.watermarks, pair.now.watermarks
    if not pair.has_state or len(before) == len(now):
        return
    added = len(now) > len(before)
    why = (
        "state of the time before is closed by it, and rows older than it are dropped"
        if added
        else "state is never closed any more, and what was closed is gone from it"
    )
    condition = (
        "rows may be dropped by it from now on"
        if added
        else "state may grow from now on, and keys that were removed may come again"
    )
    yield Change(
        "HF3133",
        Verdict.CONDITIONAL,
        "the number of watermarks",
        ", ".join(map(_shown, before)) or "none",
        ", ".join(map(_shown, now)) or "none",
        why,
        condition,
    )


def _matched(pair: QueryPair) -> Iterator[tuple[WatermarkFacts, WatermarkFacts]]:
    before, now = pair.before.watermarks, pair.now.watermarks
    if pair.has_state and len(before) == len(now):
        yield from zip(before, now, strict=True)


def _shown(watermark: WatermarkFacts) -> str:
    return f"{watermark.column} ({_duration(watermark.delay_ms)})"


def _duration(milliseconds: int) -> str:
    for size, unit in ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "s")):
        if milliseconds and milliseconds % size == 0:
            number = milliseconds // size
            return f"{number} {unit}{'' if unit == 's' or number == 1 else 's'}"
    return f"{milliseconds} ms"
