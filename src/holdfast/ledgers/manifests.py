"""Reads the manifests of a file sink, without Spark: which batches it holds, and their files."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

from holdfast.errors import NotFoundError, SinkError
from holdfast.ledgers.fileoutput import FileOutput, folder_name, query_of
from holdfast.ledgers.manifest import Manifest, decode_manifest
from holdfast.ledgers.ownledger import OwnLedger
from holdfast.ledgers.takenback import INTENT, Intent, decode_intent
from holdfast.storage.location import Location, parse_location
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader
from holdfast.storage.showing import place_within

_NAME = re.compile(r"(\d{10,})\.json")


@dataclass(frozen=True)
class ManifestLog:
    """The manifests below one folder. Reading raises StorageError, a damaged one SinkError."""

    reader: Reader

    def queries(self) -> frozenset[str]:
        """Name every query that has a committed batch here."""
        names = (query_of(name) for name in self.reader.names("") if name != INTENT)
        return frozenset(query_id for query_id in names if self.batches(query_id))

    def batches(self, query_id: str) -> tuple[int, ...]:
        """Give the committed batches of a query in order."""
        found = map(_NAME.fullmatch, self.reader.names(folder_name(query_id)))
        return tuple(sorted(int(one[1]) for one in found if one is not None))

    def manifest(self, query_id: str, batch_id: int) -> Manifest | None:
        """Read the manifest of a batch; None where the batch is not committed."""
        path = manifest_path(query_id, batch_id)
        try:
            content = self.reader.read(path)
        except NotFoundError:
            return None
        at = place_within(self.reader.location, path)
        manifest = decode_manifest(content, at)
        if (manifest.query_id, manifest.batch_id) != (query_id, batch_id):
            raise SinkError("HF5023", "a manifest is one of another batch", at=at)
        return manifest

    def is_committed(self, query_id: str, batch_id: int) -> bool:
        """Tell whether a batch is committed, without listing all of them."""
        try:
            self.reader.read(manifest_path(query_id, batch_id), 0, 1)
        except NotFoundError:
            return False
        return True

    def any_manifest(self) -> Manifest | None:
        """Read one manifest: all of a folder have the same format, mode and columns."""
        for query_id in sorted(self.queries()):
            batches = self.batches(query_id)
            if batches:
                return self.manifest(query_id, batches[-1])
        return None

    def intent(self) -> Intent | None:
        """Read what is being taken back, None where nothing is."""
        try:
            content = self.reader.read(INTENT)
        except NotFoundError:
            return None
        return decode_intent(content, place_within(self.reader.location, INTENT))


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
    """Read the newest batches; None where there are no manifests. Raises StorageError."""
    log = ManifestLog(reader)
    newest = {query: ids[-1] for query in log.queries() if (ids := log.batches(query))}
    try:
        intent = log.intent()
    except SinkError:
        # Whoever writes next refuses it; what is there can be told meanwhile.
        intent = None
    if intent is not None:
        left = {query: intent.left(query, last) for query, last in newest.items()}
        newest = {query: last for query, last in left.items() if last >= 0}
    named = "the manifests beside the output folder"
    return OwnLedger("files", reader.location, named, newest) if newest else None


def committed_files(
    output: str | os.PathLike[str], settings: StorageSettings | None = None
) -> list[CommittedFile]:
    """List the files of whole batches in the order of batches, for any reader of files.

    A batch that is committed and not yet published to its last file is left out, and so are the
    ones after it. Of a sink in mode complete the newest batch alone is listed; while its folder is
    being replaced, SinkError is raised.
    """
    location = parse_location(os.fspath(output))
    out = FileOutput(location, settings or StorageSettings())
    log = ManifestLog(out.reader_of(out.manifests))
    found = [_published(out, log, query) for query in sorted(log.queries())]
    queries = sorted(filter(None, found), key=lambda batches: batches[-1].written_at)
    batches = [one for batches in queries for one in batches]
    if batches and batches[-1].mode == "complete":
        batches = batches[-1:]
        if not _all_there(out, batches[0]):
            message = "the output is being replaced, or its files are gone"
            raise SinkError("HF5022", message, at=location.shown)
    return [
        CommittedFile(_full(location, file.path), one.query_id, one.batch_id, file.size)
        for one in batches
        for file in one.files
    ]


def manifest_path(query_id: str, batch_id: int) -> str:
    """Give where the manifest of a batch is, below the folder of the manifests."""
    return f"{folder_name(query_id)}/{batch_id:010d}.json"


def _published(out: FileOutput, log: ManifestLog, query_id: str) -> list[Manifest]:
    """Give the published batches of a query.

    Manifests are listed before staging: what a listed batch staged is seen until it is published.
    """
    batch_ids = log.batches(query_id)
    staged = out.reader.names(out.staged_for(query_id))
    published = []
    intent = log.intent()
    for batch_id in batch_ids:
        if intent is not None and intent.takes(query_id, batch_id):
            break
        manifest = log.manifest(query_id, batch_id)
        if manifest is None or (manifest.staging in staged and not _all_there(out, manifest)):
            break
        published.append(manifest)
    return published


def _all_there(out: FileOutput, manifest: Manifest) -> bool:
    return all(out.is_there(f"{out.name}/{file.path}") for file in manifest.files)


def _full(location: Location, path: str) -> str:
    return f"{location.url.rstrip('/')}/{path}"
