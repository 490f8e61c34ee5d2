"""Spells bytes, times and amounts for people."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from holdfast.format.sources import Amount
from holdfast.plurals import measured

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def size_text(size_bytes: int) -> str:
    """Spell a size: 512 B, 12.3 kB, 4.0 GB."""
    size = float(size_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size_bytes} B" if unit == "B" else f"{size:.1f} {unit}"


def time_text(moment_ms: int | None) -> str:
    """Spell a time in UTC, or what the number is where it is no time that exists."""
    if moment_ms is None:
        return ""
    try:
        moment = _EPOCH + timedelta(milliseconds=moment_ms)
    except OverflowError:
        return f"{moment_ms} ms"
    return moment.strftime("%Y-%m-%d %H:%M:%SZ")


def amount_text(amount: Amount | None) -> str:
    """Spell what a batch took from a source."""
    if amount is None or (amount.total is None and not amount.note):
        return "?"
    if amount.total is None:
        return f"? ({amount.note})"
    return f"{amount.total:,}" if amount.unit == "unknown" else measured(amount.total, amount.unit)
