"""Takes batches of a file sink back: an intent first, then files, then manifests, newest first.

Killed anywhere, the next act on the sink finishes it. Readers of the manifests see the end of it
from the first moment on.
"""

from __future__ import annotations

from holdfast.errors import SinkError
from holdfast.ledgers.fileoutput import FileOutput, is_hidden
from holdfast.ledgers.manifests import ManifestLog, manifest_path
from holdfast.ledgers.publishing import roll_forward
from holdfast.ledgers.takenback import INTENT, Intent, encode_intent


def rewind(output: FileOutput, query_id: str, batch_id: int) -> None:
    """Take back every batch of a query after this one; raise SinkError and change nothing."""
    log = _ready(output)
    later = [one for one in log.batches(query_id) if one > batch_id]
    if not later:
        return
    newest = log.manifest(query_id, later[-1])
    if newest is not None and newest.mode == "complete":
        message = "in mode complete each batch replaced the one before it, which is gone"
        raise SinkError("HF5011", message, at=output.location.shown)
    _take_back(output, log, Intent(query_id, batch_id))


def clear(output: FileOutput) -> None:
    """Take back everything; refused where files lie in the folder that no manifest knows."""
    log = _ready(output)
    known = {
        file.path
        for query_id in log.queries()
        for batch_id in log.batches(query_id)
        if (manifest := log.manifest(query_id, batch_id)) is not None
        for file in manifest.files
    }
    files = output.files_in(output.name)
    strange = sorted(path for path in files if path not in known and not is_hidden(path))
    if strange:
        message = f"{len(strange)} files are not the sink's own, such as {strange[0]}"
        raise SinkError("HF5011", message, at=output.location.shown)
    _take_back(output, log, Intent(None, -1))


def finish_taking_back(output: FileOutput, log: ManifestLog) -> None:
    """Finish what was begun and not ended, if anything was."""
    intent = log.intent()
    if intent is None:
        return
    for query_id in sorted(log.queries()):
        for batch_id in reversed(log.batches(query_id)):
            if intent.takes(query_id, batch_id):
                _remove_files(output, log, query_id, batch_id)
    output.writer.settle()
    for query_id in sorted(log.queries()):
        for batch_id in reversed(log.batches(query_id)):
            if intent.takes(query_id, batch_id):
                output.writer.remove(f"{output.manifests}/{manifest_path(query_id, batch_id)}")
                output.writer.settle()
    if intent.query_id is None:
        output.remove_tree(output.staging)
    output.writer.remove(f"{output.manifests}/{INTENT}")
    output.writer.settle()


def _ready(output: FileOutput) -> ManifestLog:
    log = ManifestLog(output.reader_of(output.manifests))
    finish_taking_back(output, log)
    roll_forward(output, log)
    return log


def _take_back(output: FileOutput, log: ManifestLog, intent: Intent) -> None:
    path = f"{output.manifests}/{INTENT}"
    if not output.writer.create(path, (encode_intent(intent),)):
        message = "batches are being taken back by somebody else"
        raise SinkError("HF5011", message, at=output.location.shown)
    output.writer.settle()
    finish_taking_back(output, log)


def _remove_files(output: FileOutput, log: ManifestLog, query_id: str, batch_id: int) -> None:
    manifest = log.manifest(query_id, batch_id)
    for file in manifest.files if manifest is not None else ():
        output.writer.remove(f"{output.name}/{file.path}")
        folder = file.path.rpartition("/")[0]
        while folder:
            output.writer.remove_folder(f"{output.name}/{folder}")
            folder = folder.rpartition("/")[0]
