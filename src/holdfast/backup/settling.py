"""Finishes an interrupted restore, or takes it back; both may themselves be killed and repeated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.answers import Answer
from holdfast.backup.applying import apply_changes, sweep_leftovers, verify_applied
from holdfast.backup.changes import Changes, decode_changes, plan_undo
from holdfast.backup.exclusion import alone
from holdfast.backup.present import look
from holdfast.backup.purging import log_id
from holdfast.backup.records import Records
from holdfast.backup.restoring import restoration
from holdfast.backup.results import Restoration, RestoreAct
from holdfast.backup.sinklog import occupied_by, sink_log_answer, sink_log_of
from holdfast.backup.snapshot import CHECKPOINT, SINK_LOG, Root, Snapshot
from holdfast.backup.store import Store
from holdfast.checkpoint.verification import Progress
from holdfast.errors import CheckpointError
from holdfast.records.journal import Act


@dataclass(frozen=True)
class _Interrupted:
    """An interrupted restore, with the backups that it was made from."""

    act: Act
    source: Store
    snapshot: Snapshot
    before: Snapshot | None
    changes: Changes
    sink_log: bool

    @property
    def whole(self) -> bool:
        return bool(self.act.intent["whole"])


def settle_restore(
    target: Records,
    *,
    finish: bool,
    open_store: Callable[[str], Store],
    progress: Progress | None = None,
) -> Answer[Restoration]:
    """Finish the interrupted restore or take it back; done already, it says so."""
    with alone(target.store, "restore"):
        act = target.journal.unfinished()
        if act is None:
            return Answer("restore", target.location, _nothing(target.location))
        found = _read(act, target, open_store)
        if found.sink_log:
            occupied_by(sink_log_of(found.snapshot), target.checkpoint)
        else:
            _refuse_advanced(found, target)
        sweep_leftovers(target.checkpoint, target.writer())
        answer = _finish(found, target, progress) if finish else _undo(found, target, progress)
        target.journal.end(act, answer.result.act.value)
        return answer


def _finish(found: _Interrupted, target: Records, progress: Progress | None) -> Answer[Restoration]:
    apply_changes(found.changes, found.source, target.writer(), progress)
    root = sink_log_of(found.snapshot) if found.sink_log else found.snapshot.checkpoint
    verified = verify_applied(target.checkpoint, found.changes, root if found.whole else None)
    return _answer(found, target, RestoreAct.FINISHED, found.changes, verified)


def _undo(found: _Interrupted, target: Records, progress: Progress | None) -> Answer[Restoration]:
    before = found.before.checkpoint if found.before is not None else None
    existed = bool(found.act.intent["existed"])
    changes = plan_undo(found.changes, before, existed=existed)
    apply_changes(changes, target.store, target.writer(), progress)
    verified = verify_applied(target.checkpoint, changes, before)
    return _answer(found, target, RestoreAct.TAKEN_BACK, changes, verified)


def _read(act: Act, target: Records, open_store: Callable[[str], Store]) -> _Interrupted:
    intent: Mapping[str, Any] = act.intent
    own = intent["store"] == target.store.url
    source = target.store if own else open_store(str(intent["store"]))
    safety = intent["safety_backup"]
    return _Interrupted(
        act,
        source,
        source.snapshot(str(intent["backup"])),
        None if safety is None else target.store.snapshot(str(safety)),
        decode_changes(intent["changes"]),
        # Written since a sink's log can be restored as well.
        intent.get("root") == SINK_LOG,
    )


def _refuse_advanced(found: _Interrupted, target: Records) -> None:
    """Raise HF4518 where a log holds an entry that neither of the two backups knows."""
    roots: list[Root] = [found.snapshot.checkpoint]
    roots += [found.before.checkpoint] if found.before is not None else []
    present = look(target.checkpoint, lambda path: log_id(path) is not None)
    for path, file in present.files.items():
        known = [root.by_path[path].sha256 for root in roots if path in root.by_path]
        if file.sha256 not in known:
            message = f"{path} was written after the restore was interrupted"
            raise CheckpointError("HF4518", message, at=f"{target.location}/{path}")


def _answer(
    found: _Interrupted, target: Records, act: RestoreAct, changes: Changes, verified: int
) -> Answer[Restoration]:
    if found.sink_log:
        files = () if found.whole else tuple(file.path for file in found.changes.writes)
        return sink_log_answer(target, act, changes, found.snapshot, files, verified)
    result = restoration(
        target.location,
        act,
        changes,
        found.snapshot if act is RestoreAct.FINISHED else found.before,
        backup=found.snapshot.id,
        part=CHECKPOINT,
        whole=found.whole,
        safety=found.act.intent["safety_backup"],
        verified=verified,
    )
    steps = (f"holdfast inspect {target.location}",)
    return Answer("restore", target.location, result, next_steps=steps)


def _nothing(location: str) -> Restoration:
    return Restoration(
        location=location,
        act=RestoreAct.NOTHING,
        backup=None,
        part=CHECKPOINT,
        whole=False,
        written_files=0,
        written_bytes=0,
        removed_files=0,
        verified_files=0,
        safety_backup=None,
        last_planned=None,
        pending=None,
    )
