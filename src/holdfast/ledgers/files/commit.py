"""Commits batches of files: each one exactly once, whoever delivers it and wherever it dies.

The whole protocol of a file sink is here and in the modules that it calls, without Spark: whoever
brings rows gives a function that stages them in a folder and describes what it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from holdfast.crashpoints import reach
from holdfast.errors import SinkError, StorageError
from holdfast.ledgers.files import rewinding as takingback
from holdfast.ledgers.files.epochlog import EpochWatch, open_query, refuse_late
from holdfast.ledgers.files.format import Fence, Manifest, staging_name
from holdfast.ledgers.files.manifests import log_of
from holdfast.ledgers.files.output import FileOutput
from holdfast.ledgers.files.publishing import (
    commit_manifest,
    flush,
    publish,
    publish_once,
    remove_leftovers,
    removed_error,
    roll_forward,
)
from holdfast.ledgers.files.replacing import keep_from_being_empty
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.sinkstate import cannot_be_asked

_COMMITTED = (
    "the directory was removed while the rows of this batch were computed: the rows of earlier "
    "batches are missing, and Spark does not deliver them again. This batch is committed and not "
    "published; the start that is accepted publishes it"
)

Stage = Callable[[str], Manifest]
"""Writes the rows of a batch into this folder below `FileOutput.around`, and describes them.

The manifest's `staging` is the last part of the folder. No two attempts may give a file the same
final name.
"""


@dataclass(frozen=True)
class Committed:
    """What became of a batch."""

    skipped: bool
    """It was committed before, with the same offsets."""
    was_staged: bool
    """Its rows were computed and staged, also where another driver committed them first."""
    rows: int | None = None
    """How many rows were written, where the format says."""


class FileCommits:
    """The batches of one output folder, as one driver commits them and takes them back."""

    def __init__(self, output: FileOutput) -> None:
        self.output = output
        self.log = log_of(output)
        self.known: Manifest | None = None
        """A manifest of this folder: all have the same format, mode and columns."""
        self._shown = output.location.shown
        self._watch = EpochWatch(self.log, self._shown)
        self._had_folder = False
        """The output folder was there when the driver started, or the driver created it."""
        self._ready = False
        self._fences: tuple[Fence, ...] = ()
        self._newest: dict[str, int] = {}
        self._delivered: int | None = None
        """The newest batch that this driver committed or found committed."""

    def look(self) -> bool:
        """Read one manifest; return whether the folder is a file sink's own. Writes nothing."""
        with sink_errors(self._shown):
            epochs = self.log.epochs()
            self.known = self.log.any_manifest(epochs)
            self._had_folder = self.output.exists()
            return self.known is not None or bool(epochs.unfinished)

    def deliver(self, identity: BatchIdentity, stage: Stage) -> Committed:
        """Stage the rows, commit them by one manifest, publish them; or skip the batch."""
        self._settle(identity)
        held = self._held(identity)
        self._refuse_lost(identity)
        was_ready, self._ready = self._ready, False
        if held is not None:
            self._refuse_removed()
            # Committed is not published: a driver that came late may have died between the two.
            publish_once(self.output, self.log, self._watch, held)
            self._ready, self._delivered = was_ready, identity.batch_id
            return Committed(skipped=True, was_staged=False)
        manifest = self._staged(identity, stage)
        committed = self._commit(manifest, identity)
        self._newest[identity.query_id] = identity.batch_id
        self.known, self._delivered = manifest, identity.batch_id
        self._had_folder = self._ready = True
        return committed

    def rewind(self, query_id: str, batch_id: int, *, generation: int) -> None:
        """Take back every batch of a query after this one, with its files."""
        self._ready, self._watch.driver, self._delivered = False, None, None
        takingback.rewind(self.output, query_id, batch_id, generation=generation)

    def clear(self, *, generation: int, queries: Collection[str] | None = None) -> None:
        """Remove every file of the sink, and all that is remembered of batches of these queries.

        Refused where another one has batches; None: the only one that has.
        """
        self._ready, self._watch.driver, self._delivered = False, None, None
        takingback.clear(self.output, generation=generation, queries=queries)
        self.known, self._had_folder = None, False

    def fence(self, query_id: str | None, *, generation: int) -> None:
        """Accept no commit of an older generation any more; no file is changed."""
        self._ready, self._watch.driver, self._delivered = False, None, None
        takingback.fence(self.output, query_id, generation=generation)

    def _settle(self, identity: BatchIdentity) -> None:
        """Finish what an earlier attempt or run began: at the first batch, and after a failure."""
        query_id, generation = identity.query_id, identity.generation
        with sink_errors(self._shown):
            if self._is_settled(identity):
                return
            self._ready = False
            self._refuse_removed()
            refuse_late(self.log.head(), query_id, generation, self._shown)
            open_query(self.output, self.log, query_id, generation)
            # In this order: once this driver is known, no older lease can take batches back.
            takingback.finish_taking_back(self.output, self.log)
            self._watch.driver = identity
            epochs = self._watch.look()
            if epochs.fences != self._fences:
                self._delivered = None  # batches were taken back
            roll_forward(self.output, self.log, self._watch, identity)
            self.known = self.log.any_manifest(epochs)
            batches = self.log.batches(query_id, epochs)
            self._newest = {query_id: batches[-1]} if batches else {}
        self._ready, self._fences = True, epochs.fences

    def _is_settled(self, identity: BatchIdentity) -> bool:
        """Return whether the same driver goes on, and nothing was taken back meanwhile."""
        driver = self._watch.driver
        if not self._ready or driver is None:
            return False
        known = (driver.query_id, driver.generation)
        if known != (identity.query_id, identity.generation):
            return False
        return self._watch.look().fences == self._fences

    def _held(self, identity: BatchIdentity) -> Manifest | None:
        """Read the manifest of the batch, None where it is not committed; raise for another one."""
        query_id, batch_id = identity.query_id, identity.batch_id
        with sink_errors(self._shown):
            held = self.log.manifest(query_id, batch_id, self._watch.epochs)
        if held is not None:
            self._refuse_other(held, identity)
            return held
        newest = self._newest.get(query_id, -1)
        if newest > batch_id:
            message = f"{self._shown} has batch {newest}, but not batch {batch_id}"
            raise SinkError("HF5024", message, at=self._shown)
        return None

    def _refuse_lost(self, identity: BatchIdentity) -> None:
        """Raise where the manifest of this driver's newest batch is gone: so may be its rows.

        In mode complete the next batch writes all of it.
        """
        last = self._delivered
        if last is None or last == identity.batch_id:
            return
        if self.known is not None and self.known.mode == "complete":
            return
        with sink_errors(self._shown):
            if self.log.manifest(identity.query_id, last, self._watch.epochs) is not None:
                return
            # Batches that were taken back since the epochs were read are gone on purpose.
            self._watch.look()
        message = f"this run delivered batch {last} to {self._shown}; its manifest is missing"
        raise SinkError("HF5027", message, at=self._shown)

    def _refuse_other(self, held: Manifest, identity: BatchIdentity) -> None:
        if not identity.has_offsets(held.offsets_digest):
            message = f"{self._shown} has batch {identity.batch_id} with different offsets"
            raise SinkError("HF5003", message, at=self._shown)

    def _staged(self, identity: BatchIdentity, stage: Stage) -> Manifest:
        epoch = self._watch.epochs.epoch(identity.query_id, identity.batch_id)
        name = staging_name(identity.batch_id, identity.generation, epoch)
        folder = f"{self.output.staged_for(identity.query_id)}/{name}"
        try:
            manifest = stage(folder)
            reach("files.staged")
            self._flush(manifest)
            reach("files.flushed")
            self._watch.refuse_void(manifest)
            self._refuse_removed()
        except BaseException:
            self._forget(folder)
            raise
        return manifest

    def _refuse_removed(self, why: str | None = None) -> None:
        """Raise where the output folder was removed since the start: earlier rows went with it.

        Without `why` nothing of the batch was written. In mode complete the next batch writes all
        of it, and drivers move the folder themselves.
        """
        if self.known is None or self.known.mode == "complete" or not self._had_folder:
            return
        with sink_errors(self._shown):
            if self.output.exists():
                return
        raise removed_error(self._shown, why)

    def _flush(self, manifest: Manifest) -> None:
        try:
            keep_from_being_empty(self.output, manifest)
            flush(self.output, manifest)
        except StorageError:
            # Whoever took the batch back, or committed it first, removes what was staged for it.
            self._watch.refuse_void(manifest)
            query_id, batch_id = manifest.query_id, manifest.batch_id
            if self.log.manifest_of(query_id, batch_id, manifest.epoch) is None:
                raise

    def _commit(self, manifest: Manifest, identity: BatchIdentity) -> Committed:
        """Create the manifest and publish; where another driver was first, keep its batch."""
        reach("sink.before-commit")
        created = commit_manifest(self.output, manifest)
        reach("sink.after-commit")
        query_id, batch_id = manifest.query_id, manifest.batch_id
        with sink_errors(self._shown):
            held = self.log.manifest_of(query_id, batch_id, manifest.epoch)
        if held is None:
            # Only whoever takes the batch back removes a manifest.
            self._watch.refuse_void(manifest)
            message = f"the manifest of batch {batch_id} disappeared"
            raise SinkError("HF5022", message, at=self._shown)
        # What would be published now would be all that is in a new folder.
        self._refuse_removed(_COMMITTED)
        is_ours = created or held.staging == manifest.staging
        if is_ours:
            publish(self.output, self.log, self._watch, held)
        else:
            publish_once(self.output, self.log, self._watch, held)
        remove_leftovers(self.output, self.log, self._watch, query_id, identity)
        reach("files.cleaned")
        self._refuse_other(held, identity)
        # Where an answer was lost on the way, a manifest that was there already is our own.
        rows = manifest.rows if is_ours else None
        return Committed(skipped=not is_ours, was_staged=True, rows=rows)

    def _forget(self, folder: str) -> None:
        """Remove an attempt that no manifest was ever asked to name; later, if not now."""
        with suppress(StorageError):
            self.output.remove_tree(folder)


@contextmanager
def sink_errors(shown: str) -> Iterator[None]:
    """Turn what keeps the sink's files from being read into an error of the sink."""
    try:
        yield
    except StorageError as error:
        raise cannot_be_asked(shown, error) from error
