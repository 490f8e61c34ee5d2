"""Finishes an interrupted restore, or takes it back; both may themselves be killed and repeated."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import reduce
from typing import Any

from holdfast.answers import Answer
from holdfast.backup.access import Records, alone
from holdfast.backup.changes import (
    FileChanges,
    apply_changes,
    decode_changes,
    plan_undo,
    sweep_leftovers,
    verify_applied,
)
from holdfast.backup.copying import log_id
from holdfast.backup.restoring import KIND, restoration
from holdfast.backup.results import Restoration, RestoreAct
from holdfast.backup.safety import look
from holdfast.backup.sinklog import occupied_by, sink_log_answer, sink_log_of
from holdfast.backup.snapshot import CHECKPOINT, SINK_LOG, Root, Snapshot
from holdfast.backup.store import BackupStore
from holdfast.checkpoint.verification import Progress
from holdfast.codes import code_of
from holdfast.errors import CheckpointError, NotFoundError, UsageError
from holdfast.findings import Finding, Place, Severity
from holdfast.records.journal import Act
from holdfast.storage.machine import is_temporary


@dataclass(frozen=True)
class _Interrupted:
    """An interrupted restore, with the backups that it was made from."""

    act: Act
    source: BackupStore
    snapshot: Snapshot
    before: Snapshot | None
    changes: FileChanges
    sink_log: bool

    @property
    def whole(self) -> bool:
        return bool(self.act.intent["whole"])


def settle_restore(
    target: Records,
    *,
    finish: bool,
    open_store: Callable[[str], BackupStore],
    writing: Sequence[Records] = (),
    confirm: Callable[[str], bool] | None = None,
    progress: Progress | None = None,
) -> Answer[Restoration]:
    """Finish the interrupted restore or take it back; done already, it says so.

    `writing` are the checkpoints of jobs that are known to write to the place. `confirm` gets a
    sentence that says what will be done and answers whether it may; nothing to do asks nobody.
    """
    open_act = target.journal.unfinished()
    if confirm is not None and open_act is not None and open_act.kind == KIND:
        sentence = f"{'Finish' if finish else 'Undo'} restore {open_act.id} of {target.location}"
        if not confirm(sentence):
            raise UsageError("HF4508", "not confirmed", at=target.location)
    with ExitStack() as held:
        jobs = [held.enter_context(one.acting(KIND)) for one in writing]
        act = held.enter_context(target.acting(KIND))
        held.enter_context(alone(target.store, KIND, act.generation))
        guarded = reduce(Records.under, (act, *jobs), target)
        return _settle(guarded, finish, open_store, progress)


OpenStore = Callable[[str], BackupStore]
"""Opens the store that a journal names."""


def no_other_store(url: str) -> BackupStore:
    """Raise HF4509: only backups of the checkpoint itself are known."""
    raise CheckpointError("HF4509", "its backup is in another place", at=url)


def take_back(
    target: Records, act: Act, open_store: OpenStore, progress: Progress | None
) -> str | None:
    """Bring back what was there before a restore that ended; return the backup it comes from.

    May be repeated after a kill.
    """
    found = _read(act, target, open_store)
    sweep_leftovers(target.checkpoint, target.writer())
    _undo(found, target, frozenset(), progress)
    safety = act.intent["safety_backup"]
    return None if safety is None else str(safety)


def not_to_take_back(target: Records, act: Act, open_store: OpenStore) -> str | None:
    """Return why a restore that ended cannot be taken back; None where it can."""
    if act.intent.get("root") == SINK_LOG:
        return "it wrote the log of a sink, which may have taken rows since"
    try:
        found = _read(act, target, open_store)
    except NotFoundError:
        return "the backup that was made before it does not exist any more"
    whole = found.snapshot.checkpoint if found.whole else None
    try:
        verify_applied(target.checkpoint, found.changes, whole)
    except CheckpointError as error:
        return f"the checkpoint changed since: {(error.at or target.location)}"
    return None


def _settle(
    target: Records,
    finish: bool,
    open_store: Callable[[str], BackupStore],
    progress: Progress | None,
) -> Answer[Restoration]:
    void = target.journal.void()
    for one in void:
        target.journal.end(one, "void")
    act = target.journal.unfinished()
    if act is None:
        findings = tuple(_void(one, target.location) for one in void)
        return Answer("restore", target.location, _nothing(target.location), findings)
    if act.kind != KIND:
        target.journal.refuse_unfinished()
    found = _read(act, target, open_store)
    late: frozenset[str] = frozenset()
    if found.sink_log:
        occupied_by(sink_log_of(found.snapshot), target.checkpoint)
    else:
        late = _late_entries(found, target)
    if finish:
        _refuse_over_late(found, target, late)
    sweep_leftovers(target.checkpoint, target.writer())
    settled = _finish if finish else _undo
    answer = settled(found, target, late, progress)
    target.journal.end(act, answer.result.act.value)
    return answer


def _finish(
    found: _Interrupted, target: Records, late: frozenset[str], progress: Progress | None
) -> Answer[Restoration]:
    root = sink_log_of(found.snapshot) if found.sink_log else found.snapshot.checkpoint
    apply_changes(found.changes, found.source, target.writer(), root.modes, progress)
    whole = root if found.whole else None
    verified = verify_applied(target.checkpoint, found.changes, whole, late)
    return _answer(found, target, RestoreAct.FINISHED, found.changes, verified)


def _undo(
    found: _Interrupted, target: Records, late: frozenset[str], progress: Progress | None
) -> Answer[Restoration]:
    """Bring back what was there; an entry that a late Spark wrote meanwhile stays."""
    before = found.before.checkpoint if found.before is not None else None
    existed = bool(found.act.intent["existed"])
    changes = plan_undo(found.changes, before, existed=existed).without(late)
    modes = before.modes if before is not None else None
    apply_changes(changes, target.store, target.writer(), modes, progress)
    verified = verify_applied(target.checkpoint, changes, before, late)
    return _answer(found, target, RestoreAct.TAKEN_BACK, changes, verified)


def _read(act: Act, target: Records, open_store: Callable[[str], BackupStore]) -> _Interrupted:
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


def _late_entries(found: _Interrupted, target: Records) -> frozenset[str]:
    """Return the files that neither backup knows; raise HF4518 where a query went on.

    A Spark that lost the lease may commit the batch that it was delivering and plan one more; it
    is stopped before the sink. Whoever planned a batch and committed it ran on what is half
    restored.
    """
    roots: list[Root] = [found.snapshot.checkpoint]
    roots += [found.before.checkpoint] if found.before is not None else []
    present = look(target.checkpoint, lambda path: log_id(path) is not None)
    late = frozenset(
        path
        for path, file in present.files.items()
        if file.sha256 not in [one.by_path[path].sha256 for one in roots if path in one.by_path]
    )
    planned, committed = ({log_id(path) for path in late if path.startswith(log)}
                          for log in ("offsets/", "commits/"))  # fmt: skip
    if planned & committed or max(len(planned), len(committed)) > 1:
        batch = max(one for one in planned | committed if one is not None)
        message = f"batch {batch} was planned and committed after the restore was interrupted"
        raise CheckpointError("HF4518", message, at=target.location)
    # The state and source logs of the planned batch; the next start writes them again.
    strange = present.names.difference(*(one.by_path for one in roots))
    return late | {path for path in strange if not is_temporary(path)}


def _refuse_over_late(found: _Interrupted, target: Records, late: frozenset[str]) -> None:
    """Raise HF4524 where finishing would overwrite a late entry, or take away what it relies on."""
    writes = {file.path for file in found.changes.writes}
    changed = {*writes, *found.changes.removes}
    has_commit = any(path.startswith("commits/") for path in late)
    has_state = any(path.startswith("state/") for path in changed)
    for path in sorted(late):
        if path in changed or (has_commit and has_state):
            message = f"{path} was written by a late driver after the restore began"
            steps = tuple(step.replace("TARGET", shlex.quote(target.location))
                          for step in code_of("HF4524").next_steps)  # fmt: skip
            at = f"{target.location}/{path}"
            raise CheckpointError("HF4524", message, at=at, next_steps=steps)


def _answer(
    found: _Interrupted, target: Records, act: RestoreAct, changes: FileChanges, verified: int
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


def _void(act: Act, location: str) -> Finding:
    message = f"the {act.kind} {act.id} lost the lease before it changed anything; it is closed"
    place = Place("", root=location)
    return Finding("HF4523", Severity.INFO, message, place, {"act": act.id})


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
