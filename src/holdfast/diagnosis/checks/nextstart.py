"""What Spark's own recovery makes of the checkpoint, where no other check says that it fails."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.forecast import outcome_with
from holdfast.checkpoint.recovery.outcome import Action
from holdfast.checkpoint.writer import start_releases
from holdfast.findings import Finding, Place, Severity


def check_next_start(picture: Picture) -> Iterator[Finding]:
    """Report that the next start fails, with the releases of Spark on which it does."""
    if picture.moved or picture.access_failure is not None:
        # What could not be seen may be there: only what was seen whole is judged.
        return
    releases = start_releases(picture)
    outcomes = {release: outcome_with(picture, release) for release in releases}
    failing = {one: outcome for one, outcome in outcomes.items() if outcome.action is Action.FAIL}
    if not failing:
        return
    with_which = "" if len(failing) == len(releases) else f" with Spark {', '.join(failing)}"
    reason = failing[max(failing, key=releases.index)].reason
    planned = picture.newest_offsets_id
    yield Finding(
        "HF2246",
        Severity.FATAL,
        f"the next start fails{with_which}: {reason}",
        Place("offsets" if planned is None else f"offsets/{planned}"),
        {"releases": list(failing), "reasons": {one: told.reason for one, told in failing.items()}},
    )
