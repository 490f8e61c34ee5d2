"""Takes batches of a file sink back: a fence first, then staging, files, and manifests.

From the fence on, no reader counts these batches, and no driver of before can add to them. Killed
anywhere, the next act on the sink finishes it.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterable

from holdfast.crashpoints import reach
from holdfast.errors import SinkError
from holdfast.ledgers.files.epochlog import EpochWatch, append_epochs, make_old_versions_stop
from holdfast.ledgers.files.format import INTENT, Epochs, Fence, Manifest, attempt_of
from holdfast.ledgers.files.manifests import (
    ManifestLog,
    is_fenced,
    log_of,
    manifest_path,
    mark_path,
)
from holdfast.ledgers.files.output import FileOutput, is_hidden, query_of
from holdfast.ledgers.files.replacing import REMOVED, replace_output, take_output_away
from holdfast.ledgers.sinkstate import refuse_other_queries
from holdfast.wording import counted


def rewind(output: FileOutput, query_id: str, batch_id: int, *, generation: int) -> None:
    """Take back every batch of a query after this one; raise SinkError and change nothing."""
    log = _ready(output, query_id, generation)
    later = [one for one in log.batches(query_id) if one > batch_id]
    newest = log.manifest(query_id, later[-1]) if later else None
    if newest is not None and newest.mode == "complete":
        message = "in mode complete each batch replaced the one before it, which no longer exists"
        raise SinkError("HF5011", message, at=output.location.shown)
    _take_back(output, log, query_id, batch_id, generation)


def clear(output: FileOutput, *, generation: int, queries: Collection[str] | None = None) -> None:
    """Take back everything; refused where files lie in the folder that no manifest knows, and where
    a query that is not meant has batches."""
    log = _ready(output, None, generation)
    refuse_other_queries(log.queries(), queries, output.location.shown)
    # In this order: a file that is listed has its manifest already.
    files = output.files_in(output.name)
    known = {file.path for one in _every_manifest(log) for file in one.files}
    strange = sorted(path for path in files if path not in known and not is_hidden(path))
    if strange:
        others = counted(len(strange), "file is", "files are")
        message = f"{others} not the sink's own, such as {strange[0]}"
        raise SinkError("HF5011", message, at=output.location.shown)
    _take_back(output, log, None, -1, generation)


def fence(output: FileOutput, query_id: str | None, *, generation: int) -> None:
    """Accept no commit of an older generation of this query any more; change no file.

    Where no batch is committed, not of a query either that nothing here tells of.
    """
    log = _ready(output, query_id, generation)
    if not log.queries():
        _take_back(output, log, None, -1, generation)
    elif query_id is not None:
        held = log.batches(query_id)
        _take_back(output, log, query_id, held[-1] if held else -1, generation)


def finish_taking_back(output: FileOutput, log: ManifestLog) -> None:
    """Finish what was begun and not ended, if anything was."""
    intent = log.intent()
    if intent is not None and not is_fenced(log.head(), intent):
        _fence(output, log, intent.query_id, intent.batch_id, 0, INTENT)
    epochs = log.head()
    if not epochs.unfinished:
        return
    _remove_void(output, log, epochs)
    if intent is not None:
        # Only versions before the epochs made one: this removes the one that was read.
        output.writer.remove(f"{output.manifests}/{INTENT}")
        output.writer.settle()

    def change(head: Epochs) -> Epochs | None:
        done = head.finished(epochs.unfinished)
        return None if done == head else done

    append_epochs(output, log, change)


def _ready(output: FileOutput, query_id: str | None, generation: int) -> ManifestLog:
    log = log_of(output)
    _refuse_older(log.head(), query_id, generation, output.location.shown)
    finish_taking_back(output, log)
    return log


def _take_back(
    output: FileOutput, log: ManifestLog, query_id: str | None, batch_id: int, generation: int
) -> None:
    _fence(output, log, query_id, batch_id, generation, uuid.uuid4().hex)
    reach("files.fenced")
    finish_taking_back(output, log)


def _fence(
    output: FileOutput,
    log: ManifestLog,
    query_id: str | None,
    batch_id: int,
    generation: int,
    token: str,
) -> None:
    """Make the fence: the one atomic act, from which on the batches are gone for readers."""
    make_old_versions_stop(output)

    def change(head: Epochs) -> Epochs | None:
        if any(one.token == token and one.number in head.unfinished for one in head.fences):
            return None
        if token != INTENT:
            _refuse_older(head, query_id, generation, output.location.shown)
        held = log.batches(query_id, head) if query_id is not None else ()
        # A batch that is not here yet is not kept either: a late one would be accepted.
        last = min(batch_id, held[-1] if held else -1)
        return head.fenced(Fence(head.number + 1, generation, query_id, last, token))

    append_epochs(output, log, change)


def _refuse_older(epochs: Epochs, query_id: str | None, generation: int, shown: str) -> None:
    """Raise SinkError where a newer holder of the lease has written since."""
    newest = epochs.newest_generation(query_id)
    if newest > generation:
        message = (
            f"a driver of lease generation {newest} has written here; generation {generation} "
            "cannot rewind it"
        )
        raise SinkError("HF5026", message, at=shown)


def _remove_void(output: FileOutput, log: ManifestLog, epochs: Epochs) -> None:
    """Remove all that a fence made void: what could still be published first."""
    _remove_void_staging(output, epochs)
    reach("files.staging-taken-back")
    void = {query_id: log.void(query_id, epochs) for query_id in log.folders()}
    manifests = [
        manifest
        for query_id, found in void.items()
        for batch_id, epoch in reversed(found)
        if (manifest := log.manifest_of(query_id, batch_id, epoch)) is not None
    ]
    _remove_files(output, (one for one in manifests if one.mode == "append"))
    _put_back(output, log, epochs, [one for one in manifests if one.mode == "complete"])
    output.writer.settle()
    reach("files.files-taken-back")
    for manifest in manifests:
        path = manifest_path(manifest.query_id, manifest.batch_id, manifest.epoch)
        output.writer.remove(f"{output.published}/{mark_path(manifest)}")
        output.writer.remove(f"{output.manifests}/{path}")
        output.writer.settle()


def _remove_void_staging(output: FileOutput, epochs: Epochs) -> None:
    for folder in sorted(output.reader.names(output.staging)):
        query_id = query_of(folder)
        for name in sorted(output.reader.names(f"{output.staging}/{folder}")):
            attempt = attempt_of(name)
            is_void = attempt is not None and attempt.epoch < epochs.epoch(
                query_id, attempt.batch_id
            )
            if is_void or name.startswith(REMOVED):
                output.remove_tree(f"{output.staging}/{folder}/{name}")
        output.writer.remove_folder(f"{output.staging}/{folder}")


def _remove_files(output: FileOutput, manifests: Iterable[Manifest]) -> None:
    for file in (file for one in manifests for file in one.files):
        output.writer.remove(f"{output.name}/{file.path}")
        folder = file.path.rpartition("/")[0]
        while folder:
            output.writer.remove_folder(f"{output.name}/{folder}")
            folder = folder.rpartition("/")[0]


def _put_back(output: FileOutput, log: ManifestLog, epochs: Epochs, void: list[Manifest]) -> None:
    """Mode complete: bring the newest batch that stays back, or remove the output."""
    if not void:
        return
    left = [ids for query_id in log.folders() if (ids := log.batches(query_id, epochs))]
    if not left:
        take_output_away(output, log)
        return
    for query_id in {one.query_id for one in void}:
        batches = log.batches(query_id, epochs)
        newest = log.manifest(query_id, batches[-1], epochs) if batches else None
        if newest is not None:
            replace_output(output, log, EpochWatch(log, output.location.shown), newest)


def _every_manifest(log: ManifestLog) -> Iterable[Manifest]:
    """Yield all manifests that are there, also those that do not count."""
    for query_id in log.folders():
        for batch_id, epoch in log.listed(query_id):
            manifest = log.manifest_of(query_id, batch_id, epoch)
            if manifest is not None:
                yield manifest
