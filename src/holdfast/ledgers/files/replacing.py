"""Mode complete: puts the folder of the newest batch in the place of the output, by renames.

Whatever drivers do at once, the folder of the newest committed batch is always in one place: its
staging folder, the output, or a folder that a driver moved the output away to. It is never removed
there, and whoever finds it away brings it back.
"""

from __future__ import annotations

import uuid
from enum import Enum

from holdfast.crashpoints import reach
from holdfast.errors import NotFoundError, StorageError
from holdfast.ledgers.files.epochlog import EpochWatch
from holdfast.ledgers.files.format import Manifest
from holdfast.ledgers.files.manifests import ManifestLog
from holdfast.ledgers.files.output import FileOutput, query_of
from holdfast.ledgers.identity import BatchIdentity

REPLACED = "replaced-"
"""How the name of an output begins that mode complete replaced.

Older versions also gave it to attempts that they were removing.
"""
REMOVED = "removed-"
"""How the name of an attempt begins that is being removed: no file of it is needed any more."""
_QUIET_ROUNDS = 4
"""How often nothing must be found before a folder is taken for cleared.

A driver that comes late moves the output at most twice before it looks for a fence: away and back.
"""


class MoveResult(Enum):
    """What became of the move of a folder."""

    DONE = "done"
    GONE = "gone"
    """The folder was not there any more."""
    OCCUPIED = "occupied"
    """Another folder is at the target."""


def keep_from_being_empty(output: FileOutput, manifest: Manifest) -> None:
    """Add a file that readers skip to a staged batch without files.

    A folder can be renamed onto an empty one: without it, an older output could take its place.
    """
    if manifest.mode == "complete" and not manifest.files:
        path = f"{output.staged_for(manifest.query_id)}/{manifest.staging}/{_only_file(manifest)}"
        output.writer.create(path, (b"this batch has no files\n",))
        output.writer.settle()


def replace_output(
    output: FileOutput, log: ManifestLog, watch: EpochWatch, manifest: Manifest
) -> None:
    """Put the folder of a batch in the place of the output: readers miss it between two renames.

    A driver may come here late. Then the folder of its batch is gone, and if it moved the output
    away it puts it back, unless another one is there.
    """
    while (source := _source(output, manifest)) is not None:
        watch.refuse_void(manifest)
        if log.is_committed(manifest.query_id, manifest.batch_id + 1, watch.epochs):
            # One that a newer batch replaces needs no place any more.
            break
        away = _away(output, manifest.query_id, manifest.batch_id)
        was_there = _moved(output, output.name, away) is MoveResult.DONE
        reach("files.moved-away")
        moved = _moved(output, source, output.name)
        if moved is MoveResult.DONE:
            reach("files.published-one")
            break
        if moved is MoveResult.GONE and was_there:
            _moved(output, away, output.name)
    output.writer.settle()


def tidy_replaced(
    output: FileOutput,
    log: ManifestLog,
    watch: EpochWatch,
    query_id: str,
    driver: BatchIdentity,
) -> None:
    """Remove outputs that were replaced; bring the newest back if a late driver moved it away."""
    staging = output.staged_for(query_id)
    # In this order: what was moved away before was committed before, so the newest batch that is
    # read afterwards is at least as new.
    away = _replaced(output, query_id)
    held = {name: _names_in(output, f"{staging}/{name}") for name in away}
    newest = _newest(log, watch, driver)
    brought_back = False
    for name, files in sorted(held.items()):
        if newest is not None and _is_of(files, newest):
            replace_output(output, log, watch, newest)
            brought_back = True
        else:
            output.remove_tree(f"{staging}/{name}")
    if brought_back:
        # What was in its place is away now.
        tidy_replaced(output, log, watch, query_id, driver)


def take_output_away(output: FileOutput, log: ManifestLog) -> None:
    """Remove the output and all that was moved away from it, after a fence.

    Whoever comes here late may find a batch that was written since: it stays.
    """
    quiet = 0
    while quiet < _QUIET_ROUNDS:
        found = [
            _taken_away(output, log, query_id, f"{output.staged_for(query_id)}/{name}")
            for query_id in _staging_queries(output)
            for name in _replaced(output, query_id)
        ]
        found.append(_taken_away(output, log, "-", output.name))
        quiet = 0 if any(found) else quiet + 1
    output.writer.settle()


def _taken_away(output: FileOutput, log: ManifestLog, query_id: str, folder: str) -> bool:
    """Remove a folder unless it is a batch that counts; False where nothing was removed."""
    if _counting(output, log, folder) is not None:
        return False
    aside = _away(output, query_id, 0)
    if _moved(output, folder, aside) is not MoveResult.DONE:
        return False
    # Nobody but us moves it now, so what is seen in it is what goes.
    counting = _counting(output, log, aside)
    if counting is None:
        output.remove_tree(aside)
        return True
    replace_output(output, log, EpochWatch(log, output.location.shown), counting)
    return False


def _counting(output: FileOutput, log: ManifestLog, folder: str) -> Manifest | None:
    """Return the newest batch of a query whose folder this is, if it counts."""
    files = _names_in(output, folder)
    # Read after the folder: whatever is in it was committed before.
    epochs = log.head()
    for query_id in log.folders() if files else ():
        batches = log.batches(query_id, epochs)
        newest = log.manifest(query_id, batches[-1], epochs) if batches else None
        if newest is not None and _is_of(files, newest):
            return newest
    return None


def remove_whole(output: FileOutput, query_id: str, folder: str) -> bool:
    """Remove a folder by one rename first, so that no late driver can publish a part of it.

    False where it is gone. Storages without folders can't replace one either.
    """
    if not output.around.is_local:
        output.remove_tree(folder)
        return True
    aside = f"{output.staged_for(query_id)}/{REMOVED}{uuid.uuid4().hex[:12]}"
    if _moved(output, folder, aside) is not MoveResult.DONE:
        return False
    output.remove_tree(aside)
    return True


def is_moved_away(output: FileOutput, manifest: Manifest) -> bool:
    """Return whether the folder of a batch was moved away from the output; the next start brings it
    back."""
    return manifest.mode == "complete" and _away_with(output, manifest) is not None


def _source(output: FileOutput, manifest: Manifest) -> str | None:
    """Return where the folder of a batch is, if it is not the output itself."""
    staging = output.staged_for(manifest.query_id)
    if manifest.staging in output.reader.names(staging):
        return f"{staging}/{manifest.staging}"
    return _away_with(output, manifest)


def _away_with(output: FileOutput, manifest: Manifest) -> str | None:
    """Return the replaced output that is the folder of a batch."""
    for query_id in _staging_queries(output):
        for name in _replaced(output, query_id):
            folder = f"{output.staged_for(query_id)}/{name}"
            if _is_of(_names_in(output, folder), manifest):
                return folder
    return None


def _newest(log: ManifestLog, watch: EpochWatch, driver: BatchIdentity) -> Manifest | None:
    """Read the batch that the output is to be: the newest of the query that writes it now."""
    epochs = watch.look()
    batches = log.batches(driver.query_id, epochs)
    if batches:
        return log.manifest(driver.query_id, batches[-1], epochs)
    found = [
        manifest
        for query_id in log.folders()
        if (ids := log.batches(query_id, epochs))
        and (manifest := log.manifest(query_id, ids[-1], epochs)) is not None
    ]
    return max(found, key=lambda one: one.written_at, default=None)


def _is_of(files: frozenset[str], manifest: Manifest) -> bool:
    """Return whether a folder is a batch's; no two attempts have a file of one name."""
    return not files.isdisjoint({file.path for file in manifest.files} or {_only_file(manifest)})


def _only_file(manifest: Manifest) -> str:
    return f"_no-files-{manifest.staging}"


def _staging_queries(output: FileOutput) -> list[str]:
    return sorted(map(query_of, output.reader.names(output.staging)))


def _replaced(output: FileOutput, query_id: str) -> list[str]:
    names = output.reader.names(output.staged_for(query_id))
    return sorted(name for name in names if name.startswith(REPLACED))


def _names_in(output: FileOutput, folder: str) -> frozenset[str]:
    return frozenset(output.files_in(folder))


def _away(output: FileOutput, query_id: str, batch_id: int) -> str:
    name = f"{REPLACED}{batch_id:010d}-{uuid.uuid4().hex[:12]}"
    return f"{output.staged_for(query_id)}/{name}"


def _moved(output: FileOutput, source: str, target: str) -> MoveResult:
    try:
        output.writer.move_folder(source, target)
    except NotFoundError:
        return MoveResult.GONE
    except StorageError:
        if output.reader.names(target):
            return MoveResult.OCCUPIED
        raise
    return MoveResult.DONE
