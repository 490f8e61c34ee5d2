"""Brings the files of committed batches into the output folder: again and again if need be.

The manifest is the commit point. Whatever is left to do after it follows from the manifest and
from what still lies in staging, so that any driver can finish what another one began, and two that
do it at once do no harm. Nothing here knows Spark.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator

from holdfast.crashpoints import reach
from holdfast.errors import NotFoundError, SinkError
from holdfast.ledgers.fileoutput import FileOutput, query_of
from holdfast.ledgers.manifest import Manifest, ManifestFile, encode_manifest
from holdfast.ledgers.manifests import ManifestLog, manifest_path
from holdfast.storage.sidebyside import side_by_side
from holdfast.storage.translation import CONNECTIONS

_STAGED = re.compile(r"(?P<batch>\d{10,})-\d+-[0-9a-f]+")
REPLACED = "replaced-"
"""How the name of an output begins that mode complete replaced."""


def staging_name(batch_id: int, generation: int) -> str:
    """Name a staging folder that no other attempt has."""
    return f"{batch_id:010d}-{generation}-{uuid.uuid4().hex[:12]}"


def staged_batch(name: str) -> int | None:
    """Give the batch that a staging folder was made for, None where it is no attempt's."""
    found = _STAGED.fullmatch(name)
    return None if found is None else int(found["batch"])


def commit_manifest(output: FileOutput, manifest: Manifest) -> bool:
    """Create the manifest: the one atomic act. False, and nothing changed, where one is there."""
    path = f"{output.manifests}/{manifest_path(manifest.query_id, manifest.batch_id)}"
    created = output.writer.create(path, (encode_manifest(manifest),))
    output.writer.settle()
    return created


def publish(output: FileOutput, manifest: Manifest) -> None:
    """Bring every file of a committed batch into the output; what is there already stays."""
    if manifest.mode == "complete":
        _swap(output, manifest)
        return
    folder = f"{output.staged_for(manifest.query_id)}/{manifest.staging}"
    staged = output.files_in(folder)

    def bring(file: ManifestFile) -> None:
        final = f"{output.name}/{file.path}"
        there = staged.get(file.staged)
        if there is not None and there.size != file.size:
            raise _lost(output, manifest, f"{file.staged} has {there.size} bytes, not {file.size}")
        if there is not None and _moved(output, f"{folder}/{file.staged}", final):
            reach("files.published-one")
        elif not output.is_there(final):
            raise _lost(output, manifest, f"{file.path} is neither staged nor published")

    if output.around.is_local:
        for file in manifest.files:
            bring(file)
    else:
        side_by_side(bring, manifest.files, CONNECTIONS)
    output.writer.settle()


def roll_forward(output: FileOutput, log: ManifestLog) -> None:
    """Publish what was committed and not published to its end, by any query."""
    for name in sorted(output.reader.names(output.staging)):
        query_id = query_of(name)
        for staged, batch_id in _staged(output, query_id):
            manifest = log.manifest(query_id, batch_id)
            if manifest is not None and manifest.staging == staged:
                publish(output, manifest)
        remove_leftovers(output, log, query_id)


def remove_leftovers(output: FileOutput, log: ManifestLog, query_id: str) -> None:
    """Remove what attempts left in staging, once no driver can commit it any more.

    An attempt at a batch that is not committed may still be a living driver's: it stays until
    that batch is. Call it when every committed batch is published.
    """
    folder = output.staged_for(query_id)
    for staged, batch_id in _staged(output, query_id):
        if log.is_committed(query_id, batch_id):
            output.remove_tree(f"{folder}/{staged}")
    _tidy_replaced(output, log, query_id)
    output.writer.remove_folder(folder)


def _staged(output: FileOutput, query_id: str) -> Iterator[tuple[str, int]]:
    """Give the staging folders of a query with their batches, in order."""
    for name in sorted(output.reader.names(output.staged_for(query_id))):
        batch_id = staged_batch(name)
        if batch_id is not None:
            yield name, batch_id


def _moved(output: FileOutput, source: str, target: str) -> bool:
    """Move a file; False where another driver was quicker."""
    try:
        output.writer.move(source, target)
    except NotFoundError:
        return False
    return True


def _swap(output: FileOutput, manifest: Manifest) -> None:
    """Put a staged folder in the place of the output: two renames, and readers miss it between.

    An old driver may come here late. Then its staged folder is gone, and if it moved the output
    away it puts it back.
    """
    staging = output.staged_for(manifest.query_id)
    if manifest.staging not in output.reader.names(staging):
        return
    replaced = f"{staging}/{REPLACED}{manifest.batch_id:010d}-{uuid.uuid4().hex[:12]}"
    was_there = _folder_moved(output, output.name, replaced)
    reach("files.moved-away")
    if not _folder_moved(output, f"{staging}/{manifest.staging}", output.name) and was_there:
        _folder_moved(output, replaced, output.name)
    reach("files.published-one")
    output.writer.settle()


def _folder_moved(output: FileOutput, source: str, target: str) -> bool:
    try:
        output.writer.move_folder(source, target)
    except NotFoundError:
        return False
    return True


def _tidy_replaced(output: FileOutput, log: ManifestLog, query_id: str) -> None:
    """Remove outputs that were replaced; bring back one that a late driver moved away."""
    staging = output.staged_for(query_id)
    away = sorted(one for one in output.reader.names(staging) if one.startswith(REPLACED))
    batches = log.batches(query_id) if away else ()
    newest = log.manifest(query_id, batches[-1]) if batches else None
    wanted = {file.path for file in newest.files} if newest is not None else set()
    for name in away:
        folder = f"{staging}/{name}"
        if output.name in output.reader.names(""):
            output.remove_tree(folder)
        elif output.files_in(folder).keys() == wanted:
            _folder_moved(output, folder, output.name)


def _lost(output: FileOutput, manifest: Manifest, what: str) -> SinkError:
    message = f"batch {manifest.batch_id} is committed, and {what}"
    return SinkError("HF5022", message, at=output.location.shown)
