"""Writes the log of a sink that a backup holds out to another, empty place; never to the live one.

The live log is what the sink knows of batches. An older one put in its place makes the sink forget
batches that it holds, so that they are written twice; one of another time makes it know batches
whose rows it lost, so that they are never written. What is written out here is to be looked at and
to be asked, with `--sink`.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import reduce

from holdfast.answers import Answer
from holdfast.backup.access import Records, alone
from holdfast.backup.changes import (
    FileChanges,
    apply_changes,
    encode_changes,
    outer_first,
    parents_of,
    verify_applied,
)
from holdfast.backup.copying import digested
from holdfast.backup.restoring import KIND, act_id, closed_where_untouched, restoration
from holdfast.backup.results import Restoration, RestoreAct
from holdfast.backup.safety import side_files
from holdfast.backup.snapshot import SINK_LOG, Root, Snapshot
from holdfast.backup.store import BackupStore
from holdfast.checkpoint.verification import Progress
from holdfast.errors import CheckpointError, NotFoundError, UsageError
from holdfast.findings import Finding, Place, Severity
from holdfast.records.journal import Act
from holdfast.records.leases.taking import refuse_held
from holdfast.storage.beside import FOLDER
from holdfast.storage.machine import is_temporary
from holdfast.storage.reading import FileKind, Reader
from holdfast.wording import counted


@dataclass(frozen=True)
class SinkLogOptions:
    """Which log is to be written out, and where to."""

    snapshot: Snapshot
    source: BackupStore
    """The store that holds the backup."""
    target: Records
    """The place that is written to, with its own records."""
    files: tuple[str, ...] = ()
    """Single files, such as `_spark_metadata/7`; none means the whole log."""
    writing: tuple[Records, ...] = ()
    """The checkpoints of jobs that are known to write to the place: none may run meanwhile."""


@dataclass(frozen=True)
class Occupation:
    """What of the log is at the place already."""

    exists: bool
    files: frozenset[str] = frozenset()
    folders: frozenset[str] = frozenset()


def sink_log_of(snapshot: Snapshot) -> Root:
    """Return the log of the sink in a backup; raise HF4519 where it holds none."""
    for root in snapshot.roots:
        if root.name == SINK_LOG:
            return root
    message = f"backup {snapshot.id} has no copy of the sink's log"
    raise UsageError("HF4519", message, at=snapshot.location)


def write_sink_log(
    options: SinkLogOptions,
    *,
    now_ms: int,
    confirm: Callable[[str], bool] | None,
    progress: Progress | None = None,
) -> Answer[Restoration]:
    """Write the log out; `confirm` gets a sentence with what will be done and answers yes or no.

    None asks nobody. Who is asked is asked before any lease is taken.
    """
    root = sink_log_of(options.snapshot)
    refuse_live(root, options.snapshot, options.target)
    for path in options.files:
        if path not in root.by_path:
            message = f"the sink's log in backup {options.snapshot.id} has no {path}"
            raise UsageError("HF4516", message, at=root.location)
    asked = None
    if confirm is not None:
        for one in (*options.writing, options.target):
            refuse_held(one.folder, KIND)
        asked, _ = _plan(options, root)
        if not asked.empty and not confirm(_sentence(options, root, asked)):
            raise UsageError("HF4508", "not confirmed", at=options.target.location)
    with ExitStack() as held:
        # Before anything is written to the place, the records of this act included.
        jobs = [held.enter_context(one.acting(f"{KIND} --sink-log-to")) for one in options.writing]
        act = held.enter_context(options.target.acting(KIND))
        held.enter_context(alone(options.source, KIND))
        held.enter_context(alone(options.target.store, KIND, act.generation))
        target = reduce(Records.under, (act, *jobs), options.target)
        return _write(replace(options, target=target), root, asked, now_ms, progress)


def _plan(options: SinkLogOptions, root: Root) -> tuple[FileChanges, Occupation]:
    """Look what has to be written; raise where it must not be. Writes nothing."""
    options.target.journal.refuse_unfinished()
    occupation = occupied_by(root, options.target.checkpoint)
    return _planned(root, occupation, options.files), occupation


def _write(
    options: SinkLogOptions,
    root: Root,
    asked: FileChanges | None,
    now_ms: int,
    progress: Progress | None,
) -> Answer[Restoration]:
    target = options.target
    changes, occupation = _plan(options, root)
    if asked is not None and asked != changes:
        message = "files changed between the question and the answer"
        raise CheckpointError("HF4505", message, at=target.location)
    if changes.empty:
        return sink_log_answer(
            target, RestoreAct.UNCHANGED, changes, options.snapshot, options.files, 0
        )
    for file in changes.writes:
        for _ in options.source.whole_chunks(file):
            pass
    act = _begun(options, changes, existed=occupation.exists, now_ms=now_ms)

    def is_untouched() -> bool:
        return occupied_by(root, target.checkpoint) == occupation

    with closed_where_untouched(target, act, is_untouched):
        apply_changes(changes, options.source, target.writer(), root.modes, progress)
    verified = verify_applied(target.checkpoint, changes, None if options.files else root)
    target.journal.end(act, RestoreAct.RESTORED.value)
    return sink_log_answer(
        target, RestoreAct.RESTORED, changes, options.snapshot, options.files, verified
    )


def refuse_live(root: Root, snapshot: Snapshot, target: Records) -> None:
    """Raise HF4520 where the sink's own folder, the checkpoint or our records would be written."""
    place = target.identity
    for live, what in ((root.location, "the sink"), (snapshot.location, "the checkpoint")):
        if place == live or place.startswith(f"{live}/"):
            message = f"{target.location} is {what} itself, or is inside it"
            raise CheckpointError("HF4520", message, at=target.location)
    if FOLDER in place.split("/"):
        message = f"{target.location} is inside the records of a checkpoint"
        raise CheckpointError("HF4520", message, at=target.location)


def occupied_by(root: Root, reader: Reader) -> Occupation:
    """Look what is at the place; raise HF4521 where it is anything else than files of this log."""
    try:
        listing = reader.list()
    except NotFoundError:
        return Occupation(exists=False)
    for failure in listing.failures.values():
        raise failure
    files = {item.path: item for item in listing.items if not is_temporary(item.path)}
    folders = {path for path, item in files.items() if item.kind is FileKind.FOLDER}
    for path, item in files.items():
        known = root.by_path.get(path)
        same = known is not None and digested(reader, path, item.size).sha256 == known.sha256
        if path not in root.folders and not same:
            message = f"{path} exists and is not a file of this log"
            raise CheckpointError("HF4521", message, at=f"{reader.location}/{path}")
    return Occupation(True, frozenset(files.keys() - folders), frozenset(folders))


def _planned(root: Root, occupation: Occupation, chosen: tuple[str, ...]) -> FileChanges:
    wanted = {side for path in chosen for side in (path, *side_files(path))} if chosen else None
    files = [file for file in root.files if wanted is None or file.path in wanted]
    folders = {one for file in files for one in parents_of(file.path)}
    if wanted is None:
        folders |= set(root.folders)
    made = folders - occupation.folders
    return FileChanges(
        writes=tuple(file for file in files if file.path not in occupation.files),
        removes=(),
        made_folders=outer_first(made if occupation.exists else {"", *made}),
        removed_folders=(),
    )


def _sentence(options: SinkLogOptions, root: Root, changes: FileChanges) -> str:
    size = sum(file.size for file in changes.writes)
    return (
        f"Write {counted(len(changes.writes), 'file')} ({size:,} bytes) of the log of "
        f"{root.location} from backup {options.snapshot.id} to {options.target.location}"
    )


def _begun(options: SinkLogOptions, changes: FileChanges, *, existed: bool, now_ms: int) -> Act:
    intent = {
        "backup": options.snapshot.id,
        "store": options.source.url,
        "root": SINK_LOG,
        "whole": not options.files,
        "safety_backup": None,
        "existed": existed,
        "changes": encode_changes(changes),
    }
    act = Act(act_id(options.target, now_ms), KIND, intent)
    options.target.journal.begin(act)
    return act


def sink_log_answer(
    target: Records,
    act: RestoreAct,
    changes: FileChanges,
    snapshot: Snapshot,
    files: tuple[str, ...],
    verified: int,
) -> Answer[Restoration]:
    """Report what was done, and what the copy is for."""
    root = sink_log_of(snapshot)
    result = restoration(
        target.location,
        act,
        changes,
        None,
        backup=snapshot.id,
        part=SINK_LOG,
        whole=not files,
        safety=None,
        verified=verified,
    )
    finding = Finding(
        code="HF4522",
        severity=Severity.INFO,
        message=f"this is a copy of the log of {root.location}, for reading only",
        place=Place(""),
        evidence={"sink": root.location, "made_ms": snapshot.made_ms},
    )
    there = act is not RestoreAct.TAKEN_BACK
    steps = (f"holdfast evidence {snapshot.location} --sink {target.location}",)
    return Answer(
        "restore",
        target.location,
        result,
        (finding,) if there else (),
        next_steps=steps if there and not files else (),
    )
