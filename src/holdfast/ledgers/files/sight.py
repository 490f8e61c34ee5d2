"""Looks at the output folder of a file sink before a start: are the rows of its manifests there?

Manifests lie beside the output, so they outlive it. The folder itself is listed only where the
files of the newest batch are not found: it may hold millions of files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from holdfast.errors import StorageError
from holdfast.ledgers.files.epochs import Epochs
from holdfast.ledgers.files.manifest import Manifest
from holdfast.ledgers.files.manifests import ManifestLog, read_manifest_ledger
from holdfast.ledgers.files.output import A_FOLDER, FileOutput, is_hidden
from holdfast.ledgers.files.replacing import REPLACED
from holdfast.ledgers.lastcommitted import Answer, LastCommitted
from holdfast.ledgers.sinksight import NO_QUERY_YET, Contents, SinkSight
from holdfast.storage.canonical import canonical

LOOKED_AT = 100
"""How many of the newest manifests are read before the folder is: batches may be empty."""
_BATCHES_LOOKED_AT = 5
"""How many of the newest batches with files are compared with the folder."""
_FILES_LOOKED_AT = 20
_OURS = re.compile(r".{1,8}-\d{10,}-")
"""How the name of a published file begins: its query, its batch."""
_DEEPEST = 32
"""How many folders deep a file is looked for: links may lead in circles."""


def look_at_folder(output: FileOutput, log: ManifestLog, query_id: str | None) -> SinkSight:
    """Return what is in the folder, and what its manifests hold of the query.

    Raise StorageError where it can't be read, SinkError for a damaged manifest.
    """
    place = canonical(output.location)
    epochs = log.epochs()
    generation = epochs.newest_of(query_id)
    held = LastCommitted.nothing(NO_QUERY_YET)
    if query_id is not None:
        ledger = read_manifest_ledger(log.reader)
        held = LastCommitted.nothing("no batch was ever committed to this folder")
        if ledger is not None:
            held = ledger.last_committed(query_id)
    if held.answer is Answer.NOTHING:
        return SinkSight(held, place, contents=_contents(output), generation=generation)
    published = [] if query_id is None else _newest_published(output, log, query_id, epochs)
    if not published or _has_one_of(output, published[0]):
        return SinkSight(held, place, generation=generation)
    contents = _contents(output)
    if contents is Contents.ABSENT:
        return SinkSight(held, place, contents=contents, generation=generation)
    # Emptied, not deleted: retention and consumers that move files away do that, too.
    newest, left = published[0], "other files are" if contents is Contents.ROWS else "no file is"
    doubt = (
        f"{newest.files[0].path} of batch {newest.batch_id} is not in {output.location.shown}; "
        f"{left}"
    )
    return SinkSight(
        held,
        place,
        contents=contents,
        doubt=doubt,
        rows_up_to=_rows_up_to(output, published[1:]),
        generation=generation,
    )


def _rows_up_to(output: FileOutput, older: Sequence[Manifest]) -> int | None:
    """Return the newest older batch that is there, as after an older copy was put back.

    Retention and consumers take the oldest files first; compaction leaves files of other names.
    """
    found = next((one.batch_id for one in older if _has_one_of(output, one)), None)
    is_compacted = found is not None and _has_file(output, output.name, _DEEPEST, _is_foreign)
    return None if is_compacted else found


def _has_one_of(output: FileOutput, manifest: Manifest) -> bool:
    files = manifest.files[:_FILES_LOOKED_AT]
    return any(output.is_there(f"{output.name}/{one.path}") for one in files)


def _is_foreign(name: str) -> bool:
    return _OURS.match(name) is None


def _contents(output: FileOutput) -> Contents:
    """Return whether a reader that lists the folder finds a file."""
    if output.name not in output.reader.names(""):
        return Contents.ABSENT
    return Contents.ROWS if _has_file(output, output.name, _DEEPEST) else Contents.EMPTY


def _has_file(
    output: FileOutput, folder: str, depth: int, wanted: Callable[[str], bool] = bool
) -> bool:
    """Return whether a folder holds a wanted file that readers see; stop at the first one.

    After compaction this is asked at every start, and the folder may hold millions of files.
    """
    for name in sorted(output.reader.names(folder)):
        path = f"{folder}/{name}"
        if is_hidden(name):
            continue
        if _is_file(output, path):
            if wanted(name):
                return True
        elif depth > 0 and _has_file(output, path, depth - 1, wanted):
            return True
    return False


def _is_file(output: FileOutput, path: str) -> bool:
    try:
        return output.is_there(path)
    except StorageError as error:
        if error.code.number == A_FOLDER:
            return False
        raise


def _newest_published(
    output: FileOutput, log: ManifestLog, query_id: str, epochs: Epochs
) -> list[Manifest]:
    """Return the newest batches whose files were published, newest first; none where unknown.

    What still lies in staging is published by the next batch, an output that was moved aside is
    put back by it, and what is being taken back may have lost its files.
    """
    if epochs.unfinished:
        return []
    staged = output.reader.names(output.staged_for(query_id))
    if any(name.startswith(REPLACED) for name in staged):
        return []
    found: list[Manifest] = []
    for number, batch_id in enumerate(reversed(log.batches(query_id, epochs))):
        if number == LOOKED_AT and not found and _contents(output) is not Contents.ABSENT:
            break
        manifest = log.manifest(query_id, batch_id, epochs)
        if manifest is None:
            continue
        is_published = manifest.staging not in staged and bool(manifest.files)
        if is_published:
            found.append(manifest)
        if manifest.mode == "complete" or len(found) == _BATCHES_LOOKED_AT:
            break
    return found
