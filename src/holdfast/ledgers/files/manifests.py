"""Reads the manifests of a file sink, without Spark: which batches it holds, and their files."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from holdfast.errors import NotFoundError, SinkError, StorageError
from holdfast.ledgers.files.format import (
    EPOCHS,
    INTENT,
    Epochs,
    Fence,
    Intent,
    Manifest,
    decode_epochs,
    decode_intent,
    decode_manifest,
)
from holdfast.ledgers.files.output import FileOutput, folder_name, query_of
from holdfast.ledgers.sinkstate import (
    NOT_COMMITTED,
    UNKNOWN,
    CommittedOffsets,
    OwnLedger,
    committed_with,
)
from holdfast.storage.location import Location, parse_location, place_within
from holdfast.storage.options import StorageOptions, StorageSettings, settings_given
from holdfast.storage.reading import Reader

_NAME = re.compile(r"(\d{10,})(?:\.([1-9]\d*))?\.json", re.ASCII)
_EPOCHS = re.compile(r"(\d{10,})\.epochs", re.ASCII)
_TRIES = 20


@dataclass(frozen=True)
class ManifestLog:
    """The manifests in one directory. Reading raises StorageError, a damaged one SinkError.

    For several calls pass the same `epochs`; without them, they are read each time.
    """

    reader: Reader

    def queries(self, epochs: Epochs | None = None) -> frozenset[str]:
        """Return every query that has a committed batch here."""
        known = self.epochs() if epochs is None else epochs
        return frozenset(query for query in self.folders() if self.batches(query, known))

    def folders(self) -> tuple[str, ...]:
        """Return every query that has a folder here, also where no batch of it is committed."""
        names = self.reader.names("") - {INTENT, EPOCHS}
        return tuple(sorted(map(query_of, names)))

    def batches(self, query_id: str, epochs: Epochs | None = None) -> tuple[int, ...]:
        """Return the committed batches of a query in order."""
        found = self.listed(query_id)
        # Read after the listing: what was listed and is taken back meanwhile is left out.
        known = self.epochs() if epochs is None else epochs
        return tuple(batch for batch, epoch in found if epoch == known.epoch(query_id, batch))

    def void(self, query_id: str, epochs: Epochs) -> tuple[tuple[int, int], ...]:
        """Return batch and epoch of manifests that do not count any more, in order."""
        found = self.listed(query_id)
        return tuple(one for one in found if one[1] < epochs.epoch(query_id, one[0]))

    def manifest(
        self, query_id: str, batch_id: int, epochs: Epochs | None = None
    ) -> Manifest | None:
        """Read the manifest of a batch; None where the batch is not committed."""
        known = self.epochs() if epochs is None else epochs
        return self.manifest_of(query_id, batch_id, known.epoch(query_id, batch_id))

    def manifest_of(self, query_id: str, batch_id: int, epoch: int) -> Manifest | None:
        """Read the manifest that a batch has in an epoch, whether it counts or not."""
        path = manifest_path(query_id, batch_id, epoch)
        try:
            content = self.reader.read(path)
        except NotFoundError:
            return None
        at = place_within(self.reader.location, path)
        manifest = decode_manifest(content, at)
        if (manifest.query_id, manifest.batch_id, manifest.epoch) != (query_id, batch_id, epoch):
            raise SinkError("HF5023", "a manifest belongs to another batch", at=at)
        return manifest

    def offsets_of(self, query_id: str, batch_id: int) -> CommittedOffsets:
        """Return what the manifests say of one batch; never raises."""
        try:
            epochs = self.epochs()
            if epochs.unfinished:
                return UNKNOWN  # batches are being taken back
            manifest = self.manifest(query_id, batch_id, epochs)
        except (StorageError, SinkError):
            return UNKNOWN
        return NOT_COMMITTED if manifest is None else committed_with(manifest.offsets_digest)

    def is_committed(self, query_id: str, batch_id: int, epochs: Epochs) -> bool:
        """Return whether a batch is committed, without listing all of them."""
        path = manifest_path(query_id, batch_id, epochs.epoch(query_id, batch_id))
        try:
            self.reader.read(path, 0, 1)
        except NotFoundError:
            return False
        return True

    def any_manifest(self, epochs: Epochs | None = None) -> Manifest | None:
        """Read one manifest: all of a folder have the same format, mode and columns."""
        known = self.epochs() if epochs is None else epochs
        for query_id in self.folders():
            batches = self.batches(query_id, known)
            if batches:
                return self.manifest(query_id, batches[-1], known)
        return None

    def epochs(self) -> Epochs:
        """Read which manifests count; an intent of an older version counts as a fence."""
        head = self.head()
        intent = self.intent()
        if intent is None or is_fenced(head, intent):
            return head
        number = head.number + 1
        return head.fenced(Fence(number, 0, intent.query_id, intent.batch_id, INTENT))

    def head(self) -> Epochs:
        """Read the newest document of the epochs; empty ones where there is none."""
        for _ in range(_TRIES):
            number = self.epochs_number()
            path = epochs_path(number)
            try:
                content = self.reader.read(path) if number else None
            except NotFoundError:
                # Replaced between the listing and the reading.
                continue
            at = place_within(self.reader.location, path)
            return Epochs() if content is None else decode_epochs(content, at)
        message = "the epochs of the manifests are listed but cannot be read"
        raise SinkError("HF5023", message, at=self.reader.location)

    def epochs_number(self) -> int:
        """Return the number of the newest document of the epochs, 0 where there is none."""
        return max(self.epoch_numbers(), default=0)

    def epoch_numbers(self) -> tuple[int, ...]:
        """Return the numbers of the documents of the epochs that are there."""
        found = map(_EPOCHS.fullmatch, self.reader.names(EPOCHS))
        return tuple(sorted(int(one[1]) for one in found if one is not None))

    def intent(self) -> Intent | None:
        """Read what an older version began to take back, None where it finished."""
        try:
            content = self.reader.read(INTENT)
        except NotFoundError:
            return None
        return decode_intent(content, place_within(self.reader.location, INTENT))

    def listed(self, query_id: str) -> list[tuple[int, int]]:
        """Return batch and epoch of every manifest that is there, whether it counts or not."""
        found = map(_NAME.fullmatch, self.reader.names(folder_name(query_id)))
        return sorted((int(one[1]), int(one[2] or 0)) for one in found if one is not None)


@dataclass(frozen=True)
class CommittedFile:
    """A file of a batch that is committed and published as a whole."""

    path: str
    """Where it is: a path on this machine, or a URL."""
    query_id: str
    batch_id: int
    size: int

    def __fspath__(self) -> str:
        """Serve as a path."""
        return self.path


def read_manifest_ledger(reader: Reader) -> OwnLedger | None:
    """Read the newest batches; None where there are no manifests.

    Raises StorageError, and SinkError if it cannot be determined which manifests count.
    """
    log = ManifestLog(reader)
    try:
        epochs = log.epochs()
    except SinkError:
        # An intent that is damaged: whoever writes next refuses it. Damaged epochs raise again.
        epochs = log.head()
    newest = {query: ids[-1] for query in log.folders() if (ids := log.batches(query, epochs))}
    named = "the manifests beside the output folder"
    return OwnLedger("files", reader.location, named, newest) if newest else None


def committed_files(
    output: str | os.PathLike[str],
    settings: StorageSettings | None = None,
    *,
    storage_options: StorageOptions = (),
) -> list[CommittedFile]:
    """List the files of whole batches in the order of batches, for any reader of files.

    A batch that is committed and not yet published to its last file is left out, and so are the
    ones after it. Of a sink in mode complete only the newest batch is listed; SinkError is raised
    while its directory is being replaced.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as empty:
    ...     committed_files(empty)
    []
    """
    location = parse_location(os.fspath(output))
    given = settings_given(location.scheme, storage_options)
    out = FileOutput(location, (settings or StorageSettings()).overridden_by(given))
    log = log_of(out)
    found = [_published(out, log, query) for query in log.folders()]
    queries = sorted(filter(None, found), key=lambda batches: batches[-1].written_at)
    batches = [one for batches in queries for one in batches]
    if batches and batches[-1].mode == "complete":
        batches = batches[-1:]
        if not _all_there(out, batches[0]):
            message = "the output is being replaced, or its files are missing"
            raise SinkError("HF5022", message, at=location.shown)
    return [
        CommittedFile(_full(location, file.path), one.query_id, one.batch_id, file.size)
        for one in batches
        for file in one.files
    ]


def is_fenced(epochs: Epochs, intent: Intent) -> bool:
    """Return whether a fence took the place of an older version's intent, and is not finished."""
    return any(
        one.token == INTENT and one.number in epochs.unfinished and one.query_id == intent.query_id
        for one in epochs.fences
    )


def log_of(output: FileOutput) -> ManifestLog:
    """Open the manifests of an output folder."""
    return ManifestLog(output.reader_of(output.manifests))


def manifest_path(query_id: str, batch_id: int, epoch: int = 0) -> str:
    """Return where the manifest of a batch is, below the folder of the manifests."""
    return f"{folder_name(query_id)}/{_stem(batch_id, epoch)}.json"


def mark_path(manifest: Manifest) -> str:
    """Return where the mark of a published batch is, below the folder of the marks."""
    return f"{folder_name(manifest.query_id)}/{_stem(manifest.batch_id, manifest.epoch)}"


def epochs_path(number: int) -> str:
    """Return where a document of the epochs is, below the folder of the manifests."""
    return f"{EPOCHS}/{number:010d}.epochs"


def is_marked(output: FileOutput, manifest: Manifest) -> bool:
    """Return whether a batch is marked as published."""
    return output.is_there(f"{output.published}/{mark_path(manifest)}")


def _stem(batch_id: int, epoch: int) -> str:
    return f"{batch_id:010d}.{epoch}" if epoch else f"{batch_id:010d}"


def _published(out: FileOutput, log: ManifestLog, query_id: str) -> list[Manifest]:
    """Return the published batches of a query.

    Manifests are listed before staging: what a listed batch staged is seen until it is published.
    """
    listed = log.batches(query_id)
    epochs = log.epochs()
    staged = out.reader.names(out.staged_for(query_id))
    published = []
    for batch_id in listed:
        manifest = log.manifest(query_id, batch_id, epochs)
        if manifest is None or not _is_whole(out, manifest, staged):
            break
        published.append(manifest)
    return published


def _is_whole(out: FileOutput, manifest: Manifest, staged: frozenset[str]) -> bool:
    if manifest.staging not in staged:
        return True
    return is_marked(out, manifest) or _all_there(out, manifest)


def _all_there(out: FileOutput, manifest: Manifest) -> bool:
    return all(out.is_there(f"{out.name}/{file.path}") for file in manifest.files)


def _full(location: Location, path: str) -> str:
    return f"{location.url.rstrip('/')}/{path}"
