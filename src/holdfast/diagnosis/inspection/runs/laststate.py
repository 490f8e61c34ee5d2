"""What the lease and the newest run's record tell: it runs, ended, was killed, or nobody knows."""

from __future__ import annotations

from enum import Enum

from holdfast.diagnosis.inspection.runs.recorded import Recorded
from holdfast.records.leases.state import Standing


class RunState(str, Enum):
    """What one look at the lease and the newest run's record tells."""

    RUNNING = "running"
    """A holder of this machine lives: its Python process, not just a JVM that it left."""
    ENDED = "ended"
    """It wrote down how it ended."""
    KILLED = "killed"
    """It left no word, and its holder is gone."""
    UNCLEAR = "unclear"
    """It left no word, and its holder is on another machine."""


_MAY_LIVE = (Standing.HELD, Standing.UNCLEAR)
_BY_LEASE = {
    Standing.HELD: RunState.RUNNING,
    Standing.UNCLEAR: RunState.UNCLEAR,
    Standing.ABANDONED: RunState.KILLED,
    Standing.FREE: RunState.KILLED,
}


def last_run_state(recorded: Recorded) -> RunState | None:
    """Return how the newest run ended; None where nothing ever ran.

    A driver that followed it, and has not written a record yet, is the newest run. An act, such as
    a restore, is no run: it only tells that the run before it is over.
    """
    run, lease = recorded.runs[0] if recorded.runs else None, recorded.lease
    is_act = lease is not None and lease.act is not None
    newer = lease is not None and (run is None or lease.generation > run.generation)
    ends = lease is not None and lease.ends
    if lease is not None and newer and not is_act and not ends and lease.state in _MAY_LIVE:
        return _BY_LEASE[lease.state]
    if run is None:
        return None
    if run.ended is not None:
        return RunState.ENDED
    if is_act or ends:
        return RunState.KILLED
    return RunState.UNCLEAR if lease is None else _BY_LEASE[lease.state]
