"""Writes moments as RFC 3339 in UTC, and reads them back."""

from __future__ import annotations

import time
from datetime import datetime, timezone


def moment_now() -> str:
    """Give this moment, to the millisecond."""
    moment = datetime.fromtimestamp(time.time(), tz=timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_since(moment: str) -> float | None:
    """Give how long ago a moment was by this machine's clock; None where it is no moment."""
    try:
        written = datetime.fromisoformat(moment.replace("Z", "+00:00"))
    except ValueError:
        return None
    if written.tzinfo is None:
        return None
    return time.time() - written.timestamp()
