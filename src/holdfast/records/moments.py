"""Writes moments as RFC 3339 in UTC, and reads them back."""

from __future__ import annotations

import time
from datetime import datetime, timezone


def moment_now() -> str:
    """Return this moment, to the millisecond."""
    return _moment(time.time())


def moment_after(moment: str, seconds: float) -> str | None:
    """Return the moment this long after another one; None if that is not a moment."""
    began = epoch_seconds(moment)
    try:
        return None if began is None else _moment(began + seconds)
    except (ValueError, OverflowError):
        # Past the last year that Python knows: nobody's clock wrote this.
        return None


def seconds_since(moment: str) -> float | None:
    """Return how long ago a moment was by this machine's clock; None where it is no moment."""
    written = epoch_seconds(moment)
    return None if written is None else time.time() - written


def epoch_seconds(moment: str) -> float | None:
    """Return the seconds from 1970 to a moment; None if it is not one."""
    try:
        written = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    except ValueError:
        return None
    return None if written.tzinfo is None else written.timestamp()


def _moment(epoch: float) -> str:
    moment = datetime.fromtimestamp(epoch, tz=timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
