"""What is in the way of the entries that the next start writes."""

from __future__ import annotations

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.goingon import going_on
from holdfast.checkpoint.recovery.outcome import Action, Outcome, failure


def blocked_write(picture: Picture, _release: str) -> Outcome | None:
    """A left-over side file, or a folder, where the next entry must be created."""
    ahead = going_on(picture)
    batch_id = ahead.batch_id
    if ahead.action is Action.PLAN:
        obstacle = _obstacle(picture, f"offsets/{batch_id}") or _source_obstacle(picture)
        if obstacle is not None:
            return failure(f"{obstacle} is in the way of planning batch {batch_id}", batch_id)
    obstacle = _obstacle(picture, f"commits/{batch_id}")
    if obstacle is None:
        return None
    return failure(
        f"{obstacle} is in the way of the commit: batch {batch_id} reaches the sink, then Spark "
        "fails, at every start again",
        batch_id,
        sink_touched=True,
    )


def _obstacle(picture: Picture, path: str) -> str | None:
    folder, _, name = path.rpartition("/")
    for candidate in (path, f"{folder}/.{name}.crc"):
        if candidate in picture.layout.items:
            return candidate
    return None


def _source_obstacle(picture: Picture) -> str | None:
    for name in picture.source_logs:
        files = picture.layout.sources[name].files
        following = max(files, default=-1) + 1
        obstacle = _obstacle(picture, f"sources/{name}/{following}")
        if obstacle is not None:
            return obstacle
    return None
