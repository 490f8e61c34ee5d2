"""Restores a backup: judged, what is there backed up, the intent written down, then applied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from holdfast.answers import Answer
from holdfast.backup.applying import apply_changes, verify_applied
from holdfast.backup.changes import Changes, encode_changes, plan_files, plan_whole
from holdfast.backup.exclusion import alone
from holdfast.backup.judging import (
    refuse_forked,
    refuse_older,
    refuse_other_query,
    refuse_whole_files,
    restore_findings,
    side_files,
)
from holdfast.backup.making import make_backup
from holdfast.backup.present import Present, look
from holdfast.backup.purging import log_id
from holdfast.backup.records import Records
from holdfast.backup.results import Restoration, RestoreAct
from holdfast.backup.snapshot import BEFORE_RESTORE, CHECKPOINT, Root, Snapshot, moment_text
from holdfast.backup.store import Store, read_catalogue
from holdfast.checkpoint.verification import Progress
from holdfast.errors import CheckpointError, UsageError
from holdfast.findings import Finding
from holdfast.records.journal import Act

KIND = "restore"


@dataclass(frozen=True)
class Wish:
    """What is to be restored, from where to where."""

    snapshot: Snapshot
    source: Store
    """The store that holds the backup."""
    target: Records
    """The place that is written to, with its own records."""
    elsewhere: bool
    """Another place than the backup was made of."""
    files: tuple[str, ...] = ()
    """Single files; none means the whole checkpoint."""
    even_if_running: bool = False

    @property
    def root(self) -> Root:
        """The files of the backup."""
        return self.snapshot.checkpoint


def restore_backup(
    wish: Wish,
    *,
    now_ms: int,
    confirm: Callable[[str], bool],
    progress: Progress | None = None,
) -> Answer[Restoration]:
    """Restore; `confirm` is told in a sentence what will be done and says whether it may."""
    if wish.elsewhere:
        with alone(wish.source, KIND), alone(wish.target.store, KIND):
            return _restore(wish, now_ms, confirm, progress)
    with alone(wish.target.store, KIND):
        return _restore(wish, now_ms, confirm, progress)


def _restore(
    wish: Wish, now_ms: int, confirm: Callable[[str], bool], progress: Progress | None
) -> Answer[Restoration]:
    target = wish.target
    target.journal.refuse_unfinished()
    present = look(target.checkpoint, _wanted(wish))
    _judge(wish, present, now_ms)
    findings = tuple(
        restore_findings(wish.snapshot, present, elsewhere=wish.elsewhere, whole=not wish.files)
    )
    changes = _planned(wish, present)
    if changes.empty:
        return _answer(wish, RestoreAct.UNCHANGED, changes, None, 0, findings)
    if not confirm(_sentence(wish, changes)):
        raise UsageError("HF4508", "nobody confirmed it", at=target.location)
    for file in changes.writes:
        for _ in wish.source.whole_chunks(file):
            pass
    safety = _safety_backup(wish, present, now_ms, progress)
    act = _begun(wish, changes, safety, existed=present.exists, now_ms=now_ms)
    apply_changes(changes, wish.source, target.writer(), progress)
    verified = verify_applied(target.checkpoint, changes, None if wish.files else wish.root)
    target.journal.end(act, "restored")
    return _answer(wish, RestoreAct.RESTORED, changes, safety, verified, findings)


def _wanted(wish: Wish) -> Callable[[str], bool]:
    """Say which files of the place have to be read: all, or the chosen ones and the logs."""
    if not wish.files:
        return lambda _: True
    chosen = {side for path in wish.files for side in (path, *side_files(path))}
    return lambda path: path in chosen or log_id(path) is not None


def _judge(wish: Wish, present: Present, now_ms: int) -> None:
    for path in wish.files:
        if path not in wish.root.by_path:
            message = f"backup {wish.snapshot.id} holds no {path}"
            raise UsageError("HF4516", message, at=wish.snapshot.location)
    if present.seems_running(now_ms) and not wish.even_if_running:
        message = "files changed seconds ago, or while they were looked at"
        raise CheckpointError("HF4505", message, at=present.reader.location)
    refuse_other_query(wish.snapshot, present)
    if not wish.files:
        known = () if wish.elsewhere else read_catalogue(wish.target.store).snapshots
        refuse_older(wish.snapshot, present, known)
    refuse_forked(wish.root, present)
    if wish.files:
        refuse_whole_files(wish.root, present, wish.files)


def _planned(wish: Wish, present: Present) -> Changes:
    if wish.files:
        return plan_files(wish.root, present, wish.files)
    return plan_whole(wish.root, present)


def _sentence(wish: Wish, changes: Changes) -> str:
    size = sum(file.size for file in changes.writes)
    return (
        f"Restore {wish.snapshot.id} to {wish.target.location}: "
        f"write {len(changes.writes)} files ({size:,} bytes), remove {len(changes.removes)}; "
        "what is there now is backed up first"
    )


def _safety_backup(
    wish: Wish, present: Present, now_ms: int, progress: Progress | None
) -> str | None:
    """Back up what is there; the plan must still be about the same files afterwards."""
    if present.empty:
        return None
    target = wish.target
    made = make_backup(
        target.checkpoint,
        target.store,
        identity=target.identity,
        now_ms=now_ms,
        purpose=BEFORE_RESTORE,
        progress=progress,
    )
    copied = made.snapshot.checkpoint.by_path
    if copied.keys() != present.names or any(
        copied[path] != file for path, file in present.files.items()
    ):
        message = "files changed while the safety backup was made"
        raise CheckpointError("HF4505", message, at=target.location)
    return made.snapshot.id


def _begun(wish: Wish, changes: Changes, safety: str | None, *, existed: bool, now_ms: int) -> Act:
    intent = {
        "backup": wish.snapshot.id,
        "store": wish.source.url,
        "whole": not wish.files,
        "safety_backup": safety,
        "existed": existed,
        "changes": encode_changes(changes),
    }
    act = Act(act_id(wish.target, now_ms), KIND, intent)
    wish.target.journal.begin(act)
    return act


def act_id(target: Records, now_ms: int) -> str:
    """Name an act by its time and its number in the journal."""
    number = len(target.journal.reader.names("")) + 1
    return f"{moment_text(now_ms)}-{number:04d}"


def _answer(
    wish: Wish,
    act: RestoreAct,
    changes: Changes,
    safety: str | None,
    verified: int,
    findings: Sequence[Finding],
) -> Answer[Restoration]:
    return Answer(
        "restore",
        wish.target.location,
        restoration(
            wish.target.location,
            act,
            changes,
            wish.snapshot if not wish.files else None,
            backup=wish.snapshot.id,
            part=CHECKPOINT,
            whole=not wish.files,
            safety=safety,
            verified=verified,
        ),
        tuple(findings),
        next_steps=(f"holdfast inspect {wish.target.location}",),
    )


def restoration(
    location: str,
    act: RestoreAct,
    changes: Changes,
    now: Snapshot | None,
    *,
    backup: str,
    part: str,
    whole: bool,
    safety: str | None,
    verified: int,
) -> Restoration:
    """Give the result of a restore; `now` is the backup that the place is like, if it is."""
    return Restoration(
        location=location,
        act=act,
        backup=backup,
        part=part,
        whole=whole,
        written_files=len(changes.writes),
        written_bytes=sum(file.size for file in changes.writes),
        removed_files=len(changes.removes),
        verified_files=verified,
        safety_backup=safety,
        last_planned=None if now is None else now.last_planned,
        pending=None if now is None else now.pending,
    )
