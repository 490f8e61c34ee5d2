"""Repair of state snapshots: one that is damaged is taken out where older files rebuild it."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.checkpoint.reading import read_picture
from holdfast.checkpoint.recovery.state import FIRST_REPAIRING_RELEASE, is_passed_over
from holdfast.checkpoint.releases import at_least, start_releases
from holdfast.diagnosis.checks.state.rocksdb import snapshots_to_read
from holdfast.diagnosis.doctor.state import Budget, look_at_state
from holdfast.errors import PlanError
from holdfast.remedy.preview import Preview, sides_of
from holdfast.remedy.repairs.repair import Damaged, Fix

DAMAGED_SNAPSHOT = frozenset(("HF2111", "HF2114", "HF2239", "HF2316"))
_EVERYTHING = 1 << 40


def damaged_snapshots(damaged: Damaged) -> Iterator[Fix]:
    """Take a damaged snapshot out where an older one and all changes since can be read."""
    picture, facts = damaged.picture, damaged.facts
    for finding in damaged.of(DAMAGED_SNAPSHOT, "state/"):
        path = finding.place.file
        if not path.endswith((".snapshot", ".zip")):
            continue
        at = f"{facts.location}/{path}"
        if all(at_least(one, FIRST_REPAIRING_RELEASE) for one in start_releases(picture)):
            message = f"Spark passes {path} over by itself and loads an older snapshot"
            if is_passed_over(picture, path, FIRST_REPAIRING_RELEASE):
                raise PlanError("HF4611", message, at=at)
        if not is_passed_over(picture, path, FIRST_REPAIRING_RELEASE):
            message = f"no older snapshot with all changes since it can replace {path}"
            raise PlanError("HF4613", message, at=at)
        removes = (path, *(side for side in sides_of(path) if picture.layout.has_file(side)))
        _require_loadable(damaged.reader.with_changes({}, removes), at)
        detail = f"remove {path}: Spark loads the older snapshot and the changes since"
        yield Fix(detail, removes=removes)


def _require_loadable(after: Preview, at: str) -> None:
    """Raise PlanError (HF4613) unless everything that is loaded then was read and is whole."""
    picture = read_picture(after)
    read = after.read_many(snapshots_to_read(picture, everything=False))
    snapshots = {path: data for path, data in read.items() if isinstance(data, bytes)}
    budget = Budget(_EVERYTHING, most_seconds=600.0)
    seen = look_at_state(after, picture, snapshots, verified=False, budget=budget)
    newest = picture.passed_over
    if seen.unread_files or newest is None or newest not in (seen.loadable or ()):
        message = "the state cannot be loaded without this snapshot either"
        raise PlanError("HF4613", message, at=at)
