"""Looks at the output folder of a file sink before a start: are the rows of its manifests there?

Manifests lie beside the output, so they outlive it. The folder itself is listed only where the
files of the newest batch are not found: it may hold millions of files.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from holdfast.errors import StorageError
from holdfast.ledgers.files.format import Epochs, Manifest
from holdfast.ledgers.files.manifests import ManifestLog, is_marked, read_manifest_ledger
from holdfast.ledgers.files.output import A_FOLDER, FileOutput, file_prefix, is_hidden
from holdfast.ledgers.files.replacing import is_moved_away
from holdfast.ledgers.sinkstate import NO_QUERY_YET, Contents, LastCommitted, SinkAnswer, SinkState
from holdfast.storage.location import canonical

LOOKED_AT = 100
"""How many of the newest manifests are read before the folder is: batches may be empty."""
_FILES_LOOKED_AT = 20
_OURS = re.compile(r"(?P<query>[^=]{1,8})-(?P<batch>\d{10,})-.+")
"""The name of a published file: its query, its batch, and the name that Spark gave it."""
_DEEPEST = 32
"""How many folders deep a file is looked for: links may lead in circles."""


def look_at_folder(output: FileOutput, log: ManifestLog, query_id: str | None) -> SinkState:
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
    if held.answer is SinkAnswer.NOTHING:
        contents = _contents(output)
        return SinkState(
            held,
            place,
            contents=contents,
            generation=generation,
            is_own=contents is Contents.ROWS and _has_files_of(output, query_id),
        )
    newest = None if query_id is None else _newest_published(output, log, query_id, epochs)
    if newest is None or _has_one_of(output, newest):
        return SinkState(held, place, generation=generation)
    contents = _contents(output)
    if contents is Contents.ABSENT:
        return SinkState(held, place, contents=contents, generation=generation)
    # Emptied, not deleted: retention and consumers that move files away do that, too.
    left = "other files are" if contents is Contents.ROWS else "no files are"
    doubt = (
        f"{newest.files[0].path} of batch {newest.batch_id} is not in {output.location.shown}; "
        f"{left}"
    )
    return SinkState(
        held,
        place,
        contents=contents,
        doubt=doubt,
        rows_up_to=_rows_up_to(output, newest),
        generation=generation,
    )


def _rows_up_to(output: FileOutput, newest: Manifest) -> int | None:
    """Return the newest older batch that is there, as after an older copy was put back.

    Retention and consumers take the oldest files first; compaction leaves files of other names.
    The names of the query's files say which batch they are of, however old it is.
    """
    if newest.mode == "complete":
        return None
    prefix = newest.files[0].path.rpartition("/")[2].split(f"-{newest.batch_id:010d}-")[0]
    found: list[int] = []

    def is_foreign(name: str) -> bool:
        ours = _OURS.fullmatch(name)
        if ours is not None and ours["query"] == prefix and int(ours["batch"]) < newest.batch_id:
            found.append(int(ours["batch"]))
        return ours is None

    is_compacted = _has_file(output, output.name, _DEEPEST, is_foreign)
    return None if is_compacted else max(found, default=None)


def _has_files_of(output: FileOutput, query_id: str | None) -> bool:
    """Return whether a file is named as those of the query are: only its manifests are gone."""
    if query_id is None:
        return False
    prefix = file_prefix(query_id)

    def is_ours(name: str) -> bool:
        found = _OURS.fullmatch(name)
        return found is not None and found["query"] == prefix

    return _has_file(output, output.name, _DEEPEST, is_ours)


def _has_one_of(output: FileOutput, manifest: Manifest) -> bool:
    files = manifest.files[:_FILES_LOOKED_AT]
    return any(output.is_there(f"{output.name}/{one.path}") for one in files)


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
        # What is named as one of ours is a file: asking for each of millions would take hours.
        if _OURS.fullmatch(name) is not None or _is_file(output, path):
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
) -> Manifest | None:
    """Return the newest batch whose files were published, None where there is none or unknown.

    What still lies in staging is published by the next batch, unless a mark says that it was. In
    mode complete, an output that was moved away is put back by the next batch, and what is being
    taken back may have taken the output along; appended batches that stay keep their files.
    """
    staged = output.reader.names(output.staged_for(query_id))
    for number, batch_id in enumerate(reversed(log.batches(query_id, epochs))):
        if number == LOOKED_AT and _contents(output) is not Contents.ABSENT:
            break
        manifest = log.manifest(query_id, batch_id, epochs)
        if manifest is None:
            continue
        if manifest.mode == "complete" and (epochs.unfinished or is_moved_away(output, manifest)):
            break
        is_published = manifest.staging not in staged or is_marked(output, manifest)
        if is_published and manifest.files:
            return manifest
        if manifest.mode == "complete":
            break
    return None
