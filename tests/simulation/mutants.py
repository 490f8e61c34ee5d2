"""The mutants: bugs that were fixed, and classic ones, put back on purpose.

Each one takes a fix out of the real code. If the simulation does not find it again, it would not
find the next one of its kind either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from holdfast.backup import access as backup_records
from holdfast.backup.store import BackupStore
from holdfast.ledgers.files import commit as filecommit
from holdfast.ledgers.files import publishing
from holdfast.ledgers.files import rewinding as takingback
from holdfast.ledgers.files.manifests import log_of, manifest_path, mark_path
from holdfast.ledgers.identity import OffsetRange, digest_of_offsets
from holdfast.records import busy, journal
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.remedy.steps import archive
from holdfast.remedy.steps import checkpoint as checkpointsteps
from holdfast.spark import start
from holdfast.storage import machine
from tests.simulation.views import SimulatedWriter

Patch = tuple[Any, str, Any]
_ALL = ("local", "object", "hdfs")


@dataclass(frozen=True)
class Mutant:
    """A bug: what it is, what it replaces, and where it shows."""

    name: str
    about: str
    scenarios: tuple[str, ...]
    patches: Callable[[], tuple[Patch, ...]]
    storages: tuple[str, ...] = _ALL
    is_control: bool = False
    """A classic bug that Holdfast never had: it shows that the judge convicts."""

    @contextmanager
    def at_work(self) -> Iterator[None]:
        """Put the bug into the code, until the end of the block."""
        patches = self.patches()
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in patches]
        for owner, name, new in patches:
            setattr(owner, name, new)
        try:
            yield
        finally:
            for owner, name, old in before:
                setattr(owner, name, old)


def _leftovers_of_committed(
    output: Any, log: Any, watch: Any, query_id: str, staged: str, attempt: Any, driver: Any
) -> bool:
    """Take every attempt at a committed batch for left over, whether it is published or not."""
    return log.manifest_of(query_id, attempt.batch_id, attempt.epoch) is not None


def _leftovers_of_older(
    output: Any, log: Any, watch: Any, query_id: str, staged: str, attempt: Any, driver: Any
) -> bool:
    """Take every attempt at a committed batch before the driver's own for left over."""
    committed = log.manifest_of(query_id, attempt.batch_id, attempt.epoch) is not None
    return committed and attempt.batch_id < driver.batch_id


def _only_refused(work: Any, **_: Any) -> dict[str, Any]:
    """Raise where there are late entries, also when the rows that undo would need are gone."""
    checkpointsteps.refuse_late(work)
    return {}


def _roll_forward_then_remove(output: Any, log: Any, watch: Any, driver: Any) -> None:
    """Publish what is committed, and remove what is committed when it is looked at again."""
    for name in sorted(output.reader.names(output.staging)):
        for staged, attempt in publishing._attempts(output, name):
            manifest = log.manifest_of(name, attempt.batch_id, attempt.epoch)
            if manifest is not None and manifest.staging == staged:
                publishing.publish_once(output, log, watch, manifest)
        for staged, attempt in publishing._attempts(output, name):
            if log.manifest_of(name, attempt.batch_id, attempt.epoch) is not None:
                output.remove_tree(f"{output.staged_for(name)}/{staged}")


def _taken_back(output: Any, query_id: str | None, batch_id: int) -> None:
    """Remove files and manifests, and leave nothing that keeps a late driver out."""
    log = log_of(output)
    for query in log.folders():
        for batch in reversed(log.batches(query)):
            manifest = log.manifest(query, batch)
            if manifest is None or (query_id is not None and batch <= batch_id):
                continue
            for file in manifest.files:
                output.writer.remove(f"{output.name}/{file.path}")
            output.writer.remove(f"{output.published}/{mark_path(manifest)}")
            output.writer.remove(f"{output.manifests}/{manifest_path(query, batch)}")
    output.writer.settle()


def _rewind_unfenced(output: Any, query_id: str, batch_id: int, *, generation: int) -> None:
    _taken_back(output, query_id, batch_id)


def _clear_unfenced(output: Any, *, generation: int, queries: Any = None) -> None:
    _taken_back(output, None, -1)


@contextmanager
def _without_lease(*_: Any, **__: Any) -> Iterator[Any]:
    yield SimpleNamespace(generation=None, guard=lambda writer: writer, confirm=lambda: None)


def _published_first(commits: Any, manifest: Any, *identity: Any) -> Any:
    """Bring the files into the output before the manifest says that they are committed."""
    folder = f"{commits.output.staged_for(manifest.query_id)}/{manifest.staging}"
    for file in manifest.files:
        commits.output.writer.move(f"{folder}/{file.staged}", f"{commits.output.name}/{file.path}")
    commits.output.writer.settle()
    return _COMMIT(commits, manifest, *identity)


_COMMIT = filecommit.FileCommits._commit


def _checked_then_written(writer: SimulatedWriter, path: str, chunks: Any) -> bool:
    """Look whether a file is there, and write it where none was."""
    full = f"{writer._root}/{path}"
    writer._world.step("read", full)
    if full in writer._world.tree.files:
        return False
    writer.replace(path, chunks)
    return True


def _nothing(*_: Any, **__: Any) -> None:
    """Do nothing."""


def _entry_digest(offsets: OffsetRange) -> str:
    return digest_of_offsets(offsets.entry)


def _host_name() -> str:
    return "0123456789abcdef0123456789abcdef"


MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "late-leftovers",
        "a late driver removes staging that its successor committed and is publishing",
        ("takeover",),
        lambda: ((publishing, "_is_left", _leftovers_of_committed),),
    ),
    Mutant(
        "held-unpublished",
        "a batch that is committed and not published is skipped, and its staging removed",
        ("takeover",),
        lambda: (
            (filecommit, "publish_once", _nothing),
            (publishing, "_is_left", _leftovers_of_older),
        ),
    ),
    Mutant(
        "roll-forward-gap",
        "rolling forward removes what was committed between its looking and its removing",
        ("takeover",),
        lambda: ((filecommit, "roll_forward", _roll_forward_then_remove),),
    ),
    Mutant(
        "mark-ignored",
        "a batch that is marked as published is published again, after its files expired",
        ("expiry",),
        lambda: ((publishing, "is_marked", lambda *_: False),),
    ),
    Mutant(
        "rewind-unfenced",
        "a rewind lets a driver of before go on",
        ("rewind",),
        lambda: ((takingback, "rewind", _rewind_unfenced),),
    ),
    Mutant(
        "clear-unfenced",
        "clearing the sink lets a driver of before go on",
        ("clear",),
        lambda: ((takingback, "clear", _clear_unfenced),),
    ),
    Mutant(
        "restore-without-lease",
        "a restore asks nobody whether a query runs",
        ("restore",),
        lambda: ((backup_records, "acting", _without_lease),),
    ),
    Mutant(
        "journal-looked-at-once",
        "a run looks at the journal before it has the lease, and never again",
        ("half-restored",),
        lambda: ((start, "refuse_half_changed", _nothing),),
    ),
    Mutant(
        "late-intent-counts",
        "a restore that lost its lease before it wrote its intent stands in everybody's way",
        ("half-restored",),
        lambda: ((journal, "_looked", lambda *_: ()),),
    ),
    Mutant(
        "offsets-alone",
        "the identity of a batch covers its own offsets entry, and kept copies are not compared",
        ("edited",),
        lambda: (
            (start, "refuse_changed_offsets", _nothing),
            (start, "refuse_other_offsets", _nothing),
            (OffsetRange, "digest", property(_entry_digest)),
            (OffsetCopies, "keep_previous", _nothing),
        ),
    ),
    Mutant(
        "host-name-alone",
        "marks and temporary files are told apart by host name and process number",
        ("backups",),
        lambda: (
            *((one, "this_machine", _host_name) for one in (busy, machine)),
            # What was added later finds the same bug when it has struck.
            (BackupStore, "refuse_lost", _nothing),
            (BackupStore, "_refuse_missing", _nothing),
        ),
    ),
    Mutant(
        "generations-start-again",
        "a start keeps the generation of records that were lost, and the sink refuses it",
        ("records-lost",),
        lambda: ((start, "_above_the_sink", lambda lease, _: (lease, ())),),
    ),
    Mutant(
        "lease-given-back",
        "the lease is given back although the query runs on",
        ("takeover", "pending"),
        lambda: ((start, "halt", _nothing),),
    ),
    Mutant(
        "late-entry-stops-plan",
        "an entry that a late query writes after the sink was cleared lets no plan go on or back",
        ("planned-reset", "planned-replay"),
        lambda: tuple((one, "settle_late", _only_refused) for one in (checkpointsteps, archive)),
    ),
    Mutant(
        "manifest-before-flush",
        "the manifest is written before the staged files are on the disk",
        ("kills", "takeover"),
        lambda: ((filecommit, "flush", _nothing),),
        storages=("local",),
        is_control=True,
    ),
    Mutant(
        "publish-before-manifest",
        "files are published before the manifest says that they are committed",
        ("kills", "takeover"),
        lambda: ((filecommit.FileCommits, "_commit", _published_first),),
        is_control=True,
    ),
    Mutant(
        "check-then-write",
        "a file is created only if none was there a moment ago",
        ("takeover", "three"),
        lambda: ((SimulatedWriter, "create", _checked_then_written),),
        is_control=True,
    ),
    Mutant(
        "create-then-fill",
        "a storage creates a file first and fills it afterwards",
        ("kills", "takeover"),
        tuple,
        storages=("naive",),
        is_control=True,
    ),
)


def mutant_named(name: str) -> Mutant:
    """Return a mutant; raise ValueError where there is none of this name."""
    for mutant in MUTANTS:
        if mutant.name == name:
            return mutant
    raise ValueError(f"there is no mutant {name}: {', '.join(one.name for one in MUTANTS)}")
