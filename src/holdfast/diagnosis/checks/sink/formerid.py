"""What to do about a query id that the sink knows and that `metadata` no longer holds."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.diagnosis.inspection.subject import Subject


def steps_for_former_id(
    subject: Subject, held: Mapping[str, int], sink: str = "sink"
) -> tuple[str, ...]:
    """Return the steps for a lost query id; empty unless `offsets/` holds every batch of it.

    Records of another query say that somebody put a foreign checkpoint here: its id is right.

    `held` is the newest batch that the sink has of each query. An id that is written into a
    checkpoint without those entries makes Spark plan batch ids that the sink knows: Delta skips
    their rows without an error.
    """
    picture = subject.picture
    planned, committed = picture.newest_offsets_id, picture.newest_commit_id
    if planned is None or committed is None or subject.recorded.contradicts(picture):
        return ()
    former = [one for one, newest in held.items() if newest in (committed, planned)]
    if len(former) != 1:
        return ()
    return (
        "if metadata was lost or written again: restore a backup --to another place, and copy its "
        "metadata back",
        f"without one, write the id {former[0]} back into metadata: offsets/ still holds every "
        f"batch that the {sink} has of it, so nothing is planned again",
    )
