"""Brings the files of committed batches into the output folder: again and again if need be.

The manifest is the commit point, and a promise that its staged files exist until every one of them
is published, which a mark then says for good. Any driver can finish what another one began, and two
that do it at once do no harm. `docs/reference/file-manifests.md` says what each step relies on.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from holdfast.crashpoints import reach
from holdfast.errors import NotFoundError, SinkError, StorageError
from holdfast.ledgers.files.epochlog import EpochWatch, TakenBackError
from holdfast.ledgers.files.format import (
    Manifest,
    ManifestFile,
    StagingAttempt,
    attempt_of,
    encode_manifest,
)
from holdfast.ledgers.files.manifests import ManifestLog, is_marked, manifest_path, mark_path
from holdfast.ledgers.files.output import FileOutput, query_of
from holdfast.ledgers.files.replacing import (
    REMOVED,
    REPLACED,
    remove_whole,
    replace_output,
    tidy_replaced,
)
from holdfast.ledgers.identity import BatchIdentity
from holdfast.storage.parallel import side_by_side
from holdfast.storage.reading import Listed

_TRIES = 5
_REMOVED_MEANWHILE = (
    "the directory was removed while files of this batch were moved into it, and made again for "
    "the next ones: the rows of earlier batches are missing, and Spark does not deliver them again"
)


def flush(output: FileOutput, manifest: Manifest) -> None:
    """Bring the staged files to the disk, before a manifest promises that they are there."""
    folder = _folder(output, manifest)
    for file in manifest.files:
        output.writer.flush(f"{folder}/{file.staged}")
    output.writer.settle()


def commit_manifest(output: FileOutput, manifest: Manifest) -> bool:
    """Create the manifest: the one atomic act. False, and nothing changed, where one is there."""
    path = manifest_path(manifest.query_id, manifest.batch_id, manifest.epoch)
    created = output.writer.create(f"{output.manifests}/{path}", (encode_manifest(manifest),))
    output.writer.settle()
    return created


def publish(output: FileOutput, log: ManifestLog, watch: EpochWatch, manifest: Manifest) -> None:
    """Bring every file of a committed batch into the output, and mark that it is published.

    Raises SinkError where the batch was taken back meanwhile, or files of it are lost.
    """
    watch.refuse_void(manifest)
    try:
        _bring_into_place(output, log, watch, manifest)
        reach("files.published")
        watch.refuse_void(manifest)
    except TakenBackError:
        # Where moving is copying, a file may have come after whoever took the batch back.
        _unpublish(output, manifest)
        raise
    _mark(output, manifest)
    reach("files.marked")


def publish_once(
    output: FileOutput, log: ManifestLog, watch: EpochWatch, manifest: Manifest
) -> None:
    """Publish a committed batch unless that was completed before: retention may have come since."""
    if is_marked(output, manifest):
        return
    if not manifest.marked and not _is_staged(output, manifest):
        # An older version completed it: it removed staging then, and left no mark.
        return
    publish(output, log, watch, manifest)


def roll_forward(
    output: FileOutput, log: ManifestLog, watch: EpochWatch, driver: BatchIdentity
) -> None:
    """Publish what was committed and not published to its end, by any query."""
    for name in sorted(output.reader.names(output.staging)):
        query_id = query_of(name)
        for staged, attempt in _attempts(output, query_id):
            if attempt.epoch == watch.epochs.epoch(query_id, attempt.batch_id):
                manifest = log.manifest_of(query_id, attempt.batch_id, attempt.epoch)
                if manifest is not None and manifest.staging == staged:
                    publish_once(output, log, watch, manifest)
        remove_leftovers(output, log, watch, query_id, driver)


def remove_leftovers(
    output: FileOutput,
    log: ManifestLog,
    watch: EpochWatch,
    query_id: str,
    driver: BatchIdentity,
) -> None:
    """Remove from staging what no manifest can promise any more; the rest stays, for good."""
    folder = output.staged_for(query_id)
    names = output.reader.names(folder)
    for staged, attempt in _attempts_in(names):
        if _is_left(
            output=output,
            log=log,
            watch=watch,
            query_id=query_id,
            staged=staged,
            attempt=attempt,
            driver=driver,
        ):
            remove_whole(output, query_id, f"{folder}/{staged}")
    for name in names:
        if name.startswith(REMOVED):
            output.remove_tree(f"{folder}/{name}")
    if any(name.startswith(REPLACED) for name in names):
        tidy_replaced(output, log, watch, query_id, driver)
    output.writer.remove_folder(folder)


def _is_left(
    output: FileOutput,
    log: ManifestLog,
    watch: EpochWatch,
    query_id: str,
    staged: str,
    attempt: StagingAttempt,
    driver: BatchIdentity,
) -> bool:
    """Return whether an attempt can go, by facts that no driver can change any more."""
    if attempt.epoch < watch.epochs.epoch(query_id, attempt.batch_id):
        # A manifest that names it is void, and stays so: epochs only grow.
        return True
    manifest = log.manifest_of(query_id, attempt.batch_id, attempt.epoch)
    if manifest is None:
        # Whoever staged it may still commit it, however late.
        return False
    if manifest.staging != staged:
        # Manifests are created once: this attempt will never be the batch. A newer driver's that
        # is still at it is left to that one, which finds out by itself.
        return query_id != driver.query_id or attempt.generation <= driver.generation
    return is_marked(output, manifest)


def _bring_into_place(
    output: FileOutput, log: ManifestLog, watch: EpochWatch, manifest: Manifest
) -> None:
    if manifest.mode == "append":
        _bring_all(output, watch, manifest)
    else:
        replace_output(output, log, watch, manifest)


def _bring_all(output: FileOutput, watch: EpochWatch, manifest: Manifest) -> None:
    staged = output.files_in(_folder(output, manifest))
    # Also for a batch without files: a folder that is missing means that somebody removed it.
    output.writer.make_folder(output.name)
    with output.kept_in_place() as is_in_place:
        _bring_each(output, watch, manifest, staged)
        if not is_in_place():
            raise removed_error(output.location.shown, _REMOVED_MEANWHILE)


def removed_error(shown: str, why: str | None = None) -> SinkError:
    """Return the error of an output folder that was removed while the job ran."""
    return SinkError("HF5027", f"{shown} was removed while the job ran", at=shown, why=why)


def _bring_each(
    output: FileOutput, watch: EpochWatch, manifest: Manifest, staged: Mapping[str, Listed]
) -> None:
    def bring(file: ManifestFile) -> None:
        _bring(output, watch, manifest, file, staged.get(file.staged))

    if output.connections == 1:
        for file in manifest.files:
            bring(file)
    else:
        side_by_side(bring, manifest.files, output.connections)
    output.writer.settle()


def _bring(
    output: FileOutput,
    watch: EpochWatch,
    manifest: Manifest,
    file: ManifestFile,
    there: Listed | None,
) -> None:
    """Bring one file, or find that somebody else did."""
    if there is not None and there.size != file.size:
        raise _lost(output, manifest, f"{file.staged} has {there.size} bytes, not {file.size}")
    source, final = f"{_folder(output, manifest)}/{file.staged}", f"{output.name}/{file.path}"
    for _ in range(_TRIES):
        if there is not None and _moved(output, source, final):
            reach("files.published-one")
            return
        if _is_on_disk(output, final):
            return
        if there is None or not output.is_there(source):
            break
        # The file is still staged: the folder that it was to go into was removed under the move.
    watch.refuse_void(manifest)
    if not is_marked(output, manifest):
        raise _lost(output, manifest, f"{file.path} is neither staged nor published")


def _is_on_disk(output: FileOutput, final: str) -> bool:
    """Return whether a file is published; whoever moved it may be gone before it was flushed."""
    if not output.is_there(final):
        return False
    try:
        output.writer.flush(final)
    except StorageError:
        if output.is_there(final):
            raise
        # Taken back, or removed by a retention job, this very moment.
        return False
    return True


def _mark(output: FileOutput, manifest: Manifest) -> None:
    """Say for good that every file is published; only then may the staging folder go."""
    path = f"{output.published}/{mark_path(manifest)}"
    output.writer.create(path, (f"{manifest.staging}\n".encode("ascii"),))
    output.writer.settle()


def _unpublish(output: FileOutput, manifest: Manifest) -> None:
    """Remove the files of a void batch, whose names no other attempt has."""
    for file in manifest.files if manifest.mode == "append" else ():
        output.writer.remove(f"{output.name}/{file.path}")
    output.writer.settle()


def _is_staged(output: FileOutput, manifest: Manifest) -> bool:
    return manifest.staging in output.reader.names(output.staged_for(manifest.query_id))


def _folder(output: FileOutput, manifest: Manifest) -> str:
    return f"{output.staged_for(manifest.query_id)}/{manifest.staging}"


def _attempts(output: FileOutput, query_id: str) -> Iterator[tuple[str, StagingAttempt]]:
    """Yield the staging folders of a query with their attempts, in order."""
    yield from _attempts_in(output.reader.names(output.staged_for(query_id)))


def _attempts_in(names: Collection[str]) -> Iterator[tuple[str, StagingAttempt]]:
    for name in sorted(names):
        attempt = attempt_of(name)
        if attempt is not None:
            yield name, attempt


def _moved(output: FileOutput, source: str, target: str) -> bool:
    """Move a file; False where another driver was quicker."""
    try:
        output.writer.move(source, target)
    except NotFoundError:
        return False
    return True


def _lost(output: FileOutput, manifest: Manifest, what: str) -> SinkError:
    message = f"batch {manifest.batch_id} is committed, and {what}"
    return SinkError("HF5022", message, at=output.location.shown)
