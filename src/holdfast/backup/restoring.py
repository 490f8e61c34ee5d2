"""Restores a backup: judged, what is there backed up, the intent written down, then applied.

Whoever has to be asked is asked before the lease is taken: an answer may take hours, and meanwhile
the job may run. What was asked about is compared again under the lease.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from holdfast.answers import Answer
from holdfast.backup.access import Records, alone
from holdfast.backup.changes import (
    FileChanges,
    apply_changes,
    encode_changes,
    plan_files,
    plan_whole,
    verify_applied,
)
from holdfast.backup.checksums import mismatch_finding, mismatched_copies
from holdfast.backup.copying import log_id
from holdfast.backup.making import make_backup
from holdfast.backup.results import Restoration, RestoreAct
from holdfast.backup.safety import (
    Present,
    freshness_of,
    has_taken_back,
    look,
    refuse_forked,
    refuse_older,
    refuse_other_query,
    refuse_overwriting,
    refuse_taken_back,
    refuse_whole_files,
    restore_findings,
    side_files,
)
from holdfast.backup.snapshot import BEFORE_RESTORE, CHECKPOINT, Root, Snapshot, moment_text
from holdfast.backup.store import BackupStore, read_catalogue
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.verification import Progress
from holdfast.errors import CheckpointError, HoldfastError, StorageError, UsageError
from holdfast.findings import Finding
from holdfast.ledgers.sinkstate import LastCommitted
from holdfast.records.history import History
from holdfast.records.journal import RESTORE, Act
from holdfast.records.leases.taking import refuse_held
from holdfast.records.moments import epoch_seconds
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.rewinds import Rewinds
from holdfast.records.run import Ended
from holdfast.storage.reading import Listed
from holdfast.wording import counted

KIND = RESTORE
_DENIED = "HF7002"
_ENDS = (Ended.FINISHED, Ended.STOPPED, Ended.FAILED)
"""After these no query of the run writes any more."""

AskSink = Callable[[str], LastCommitted]
"""Returns the newest batch that a sink holds of a query; never raises."""


@dataclass(frozen=True)
class RestoreOptions:
    """What is to be restored, from where to where."""

    snapshot: Snapshot
    source: BackupStore
    """The store that holds the backup."""
    target: Records
    """The place that is written to, with its own records."""
    elsewhere: bool
    """Another place than the backup was made of."""
    files: tuple[str, ...] = ()
    """Single files; none means the whole checkpoint."""
    even_if_running: bool = False
    ask_sink: AskSink | None = None
    """Asks the declared sink; None where none is declared."""

    @property
    def root(self) -> Root:
        """The files of the backup."""
        return self.snapshot.checkpoint


def restore_backup(
    options: RestoreOptions,
    *,
    now_ms: int,
    confirm: Callable[[str], bool] | None,
    progress: Progress | None = None,
) -> Answer[Restoration]:
    """Restore; `confirm` gets a sentence that says what will be done and answers whether it may.

    None asks nobody. Raise HF4505 where files changed while somebody was asked.
    """
    asked = None
    if confirm is not None:
        refuse_held(options.target.folder, KIND)
        asked = _plan(options, now_ms)
        if not asked.changes.empty and not confirm(_sentence(options, asked.changes)):
            raise UsageError("HF4508", "not confirmed", at=options.target.location)
    with ExitStack() as held:
        act = held.enter_context(options.target.acting(KIND))
        if options.elsewhere:
            held.enter_context(alone(options.source, KIND))
        held.enter_context(alone(options.target.store, KIND, act.generation))
        return _restore(replace(options, target=options.target.under(act)), asked, now_ms, progress)


@dataclass(frozen=True)
class _Plan:
    """What is there, and what a restore would change about it."""

    present: Present
    changes: FileChanges

    def is_about_the_same(self, other: _Plan) -> bool:
        """Return whether nothing that matters has changed from one plan to the other."""
        one, two = self.present, other.present
        return (self.changes, one.names, one.files) == (other.changes, two.names, two.files)


def _plan(options: RestoreOptions, now_ms: int) -> _Plan:
    """Look and judge; raise where the restore must not be done. Writes nothing."""
    options.target.journal.refuse_unfinished()
    any_folder = options.elsewhere and bool(options.files)
    present = look(options.target.checkpoint, _wanted(options), any_folder=any_folder)
    _judge(options, present, now_ms)
    return _Plan(present, _planned(options, present))


def _restore(
    options: RestoreOptions, asked: _Plan | None, now_ms: int, progress: Progress | None
) -> Answer[Restoration]:
    target, plan = options.target, _plan(options, now_ms)
    present, changes = plan.present, plan.changes
    if asked is not None and not plan.is_about_the_same(asked):
        message = "files changed between the question and the answer"
        raise CheckpointError("HF4505", message, at=target.location)
    findings = tuple(
        restore_findings(
            options.snapshot,
            present,
            elsewhere=options.elsewhere,
            whole=not options.files,
            recorded=_recorded(options),
            held=_held(options),
        )
    )
    mismatched = _mismatched(options)
    if mismatched:
        findings = (mismatch_finding(options.snapshot, mismatched), *findings)
    if changes.empty:
        return _answer(options, RestoreAct.UNCHANGED, changes, None, 0, findings)
    for file in changes.writes:
        for _ in options.source.whole_chunks(file):
            pass
    safety = _safety_backup(options, present, now_ms, progress)
    act = _begun(options, changes, safety, existed=present.exists, now_ms=now_ms)
    with closed_where_untouched(target, act, lambda: _is_untouched(options, plan)):
        apply_changes(changes, options.source, target.writer(), options.root.modes, progress)
    verified = verify_applied(target.checkpoint, changes, None if options.files else options.root)
    target.journal.end(act, RestoreAct.RESTORED.value)
    return _answer(options, RestoreAct.RESTORED, changes, safety, verified, findings)


def _is_untouched(options: RestoreOptions, plan: _Plan) -> bool:
    present = look(options.target.checkpoint, _wanted(options), any_folder=plan.present.any_folder)
    return _Plan(present, _planned(options, present)).is_about_the_same(plan)


@contextmanager
def closed_where_untouched(
    target: Records, act: Act, is_untouched: Callable[[], bool]
) -> Iterator[None]:
    """Close an act that was denied access before it changed anything.

    After any other failure what was written may still arrive, so that the act stays open.
    """
    try:
        yield
    except StorageError as failure:
        if failure.code == _DENIED and _holds(is_untouched):
            target.journal.end(act, RestoreAct.UNCHANGED.value)
            failure.message += "; nothing was changed, and the restore is closed"
        raise


def _holds(question: Callable[[], bool]) -> bool:
    """Return the answer; what cannot be looked at may be changed."""
    try:
        return question()
    except HoldfastError:
        return False


def _mismatched(options: RestoreOptions) -> tuple[str, ...]:
    """Return which copies to restore do not match their checksums.

    Single files are compared now: an older backup has no mark. For a whole backup the mark counts.
    """
    if not options.files:
        return options.snapshot.mismatched
    return mismatched_copies(options.source, options.root.by_path, options.files)


def _wanted(options: RestoreOptions) -> Callable[[str], bool]:
    """Say which files of the place have to be read: all, or the chosen ones and the logs."""
    if not options.files:
        return lambda _: True
    chosen = {side for path in options.files for side in (path, *side_files(path))}
    return lambda path: path in chosen or log_id(path) is not None


def _judge(options: RestoreOptions, present: Present, now_ms: int) -> None:
    for path in options.files:
        if path not in options.root.by_path:
            message = f"backup {options.snapshot.id} has no {path}"
            raise UsageError("HF4516", message, at=options.snapshot.location)
    if present.is_plain_folder:
        refuse_overwriting(options.root, present, options.files)
        return
    if not options.even_if_running:
        refuse_running(options.target, present, now_ms)
    refuse_other_query(options.snapshot, present)
    if not options.files:
        rewinds = () if options.elsewhere else Rewinds(options.target.folder).all()
        known = () if options.elsewhere else read_catalogue(options.target.store).snapshots
        known = tuple(one for one in known if not any(has_taken_back(one, two) for two in rewinds))
        recorded = None if options.elsewhere else _recorded(options)
        refuse_taken_back(options.snapshot, rewinds, present)
        refuse_older(options.snapshot, present, known, recorded, _held(options))
    refuse_forked(options.root, present)
    if options.files:
        refuse_whole_files(options.root, present, options.files)


def _recorded(options: RestoreOptions) -> int | None:
    """Return the newest batch of the backup's query that a recorded run delivered."""
    return History(options.target.folder).newest_batch(options.snapshot.query_id)


def _held(options: RestoreOptions) -> LastCommitted | None:
    """Ask the declared sink for the newest batch of the backup's query; None where it is another's
    place, or none is declared."""
    query_id = options.snapshot.query_id
    if options.ask_sink is None or query_id is None or options.elsewhere or options.files:
        return None
    return options.ask_sink(query_id)


def refuse_running(
    target: Records,
    present: Present,
    now_ms: int,
    files: Iterable[Listed] | None = None,
    *,
    may_override: bool = True,
) -> None:
    """Raise HF4505 where a query seems to run that Holdfast did not start: it has no lease.

    `files` are those that may be a query's, where not all are; `may_override` names the option
    with which whoever is sure goes on all the same.
    """
    at = present.reader.location
    if present.moved:
        raise CheckpointError("HF4505", "files changed while they were read", at=at)
    by_trigger = not _is_own(target, present)
    freshness = (
        present.freshness(now_ms, by_trigger=by_trigger)
        if files is None
        else freshness_of(files, now_ms, by_trigger=by_trigger)
    )
    if freshness is None or _ended_after(target, present, now_ms - freshness.age_ms):
        return
    if freshness.is_fresh:
        sure = ("give --even-if-running if you are sure that none runs",) if may_override else ()
        steps = (freshness.advice, *sure)
        raise CheckpointError("HF4505", freshness.words, at=at, next_steps=steps)


def _is_own(target: Records, present: Present) -> bool:
    """Whether a run of Holdfast delivered the newest batch: it is over, as we hold its lease."""
    picture = present.picture
    if picture is None or picture.query is None or picture.newest_offsets_id is None:
        return False
    kept = OffsetCopies(target.folder).batches(picture.query.id)
    return picture.newest_offsets_id in kept


def _ended_after(target: Records, present: Present, newest_ms: int) -> bool:
    """Whether our last run planned the newest batch, and nobody else's query went on since.

    No driver of ours runs, as we hold the lease. A query of somebody else's first runs the batch
    again that was left pending, or plans one that the run does not know. After a run that finished
    none is pending, so that what changed since was changed by hand.
    """
    picture = present.picture
    run = next(iter(History(target.folder).runs(1)), None)
    if run is None or run.ended not in _ENDS or picture is None or picture.query is None:
        return False
    planned, delivered = picture.newest_offsets_id, run.newest_delivered
    known = planned is None or (delivered is not None and planned <= delivered)
    ended = None if run.ended_at is None else epoch_seconds(run.ended_at)
    return (
        run.query_id == picture.query.id
        and (known or _is_own(target, present))
        and ended is not None
        and (newest_ms <= ended * 1000 or (run.ended is Ended.FINISHED and _is_done(picture)))
    )


def _is_done(picture: Picture) -> bool:
    """Whether no batch is pending, and none is being planned: its files come before its offsets."""
    newest = picture.newest_offsets_id
    known = (one for logs in picture.layout.sources.values() for one in logs.files)
    return picture.pending is None and max(known, default=-1) <= (-1 if newest is None else newest)


def _planned(options: RestoreOptions, present: Present) -> FileChanges:
    if options.files:
        return plan_files(options.root, present, options.files)
    return plan_whole(options.root, present)


def _sentence(options: RestoreOptions, changes: FileChanges) -> str:
    size = sum(file.size for file in changes.writes)
    return (
        f"Restore {options.snapshot.id} to {options.target.location}: write "
        f"{counted(len(changes.writes), 'file')} ({size:,} bytes), remove {len(changes.removes)}; "
        "the current files are backed up first"
    )


def _safety_backup(
    options: RestoreOptions, present: Present, now_ms: int, progress: Progress | None
) -> str | None:
    """Back up what is there; the plan must still be about the same files afterwards.

    Single files in a plain folder overwrite nothing, so that nothing of it is copied.
    """
    if present.empty or present.is_plain_folder:
        return None
    target = options.target
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


def _begun(
    options: RestoreOptions, changes: FileChanges, safety: str | None, *, existed: bool, now_ms: int
) -> Act:
    intent = {
        "backup": options.snapshot.id,
        "store": options.source.url,
        "whole": not options.files,
        "safety_backup": safety,
        "existed": existed,
        "changes": encode_changes(changes),
    }
    act = Act(act_id(options.target, now_ms), KIND, intent)
    options.target.journal.begin(act)
    return act


def act_id(target: Records, now_ms: int) -> str:
    """Name an act by its time and its number in the journal; it sorts after every other one, also
    where the clock was set back."""
    names = target.journal.reader.names("")
    newest = max((one.partition("-")[0] for one in names), default="")
    return f"{max(moment_text(now_ms), newest)}-{len(names) + 1:04d}"


def _answer(
    options: RestoreOptions,
    act: RestoreAct,
    changes: FileChanges,
    safety: str | None,
    verified: int,
    findings: Sequence[Finding],
) -> Answer[Restoration]:
    return Answer(
        "restore",
        options.target.location,
        restoration(
            options.target.location,
            act,
            changes,
            options.snapshot if not options.files else None,
            backup=options.snapshot.id,
            part=CHECKPOINT,
            whole=not options.files,
            safety=safety,
            verified=verified,
        ),
        tuple(findings),
        next_steps=(f"holdfast inspect {options.target.location}",),
    )


def restoration(
    location: str,
    act: RestoreAct,
    changes: FileChanges,
    now: Snapshot | None,
    *,
    backup: str,
    part: str,
    whole: bool,
    safety: str | None,
    verified: int,
) -> Restoration:
    """Return the result of a restore; `now` is the backup that the place is like, if it is."""
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
