"""Keeps the bytes of the newest offsets entries: a lost or torn one can be put back exactly.

`offsets/<query id>/<batch id>.<SHA-256 of the bytes>`: the name alone tells whether a batch was
planned before with other offsets, and the content can be verified against it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from urllib.parse import quote

from holdfast.errors import CheckpointError, RefusedError, StorageError
from holdfast.records.folder import RecordsFolder, prune

KEPT_OFFSETS = 100
"""How many batches of a query are kept."""
_NAME = re.compile(r"(?P<batch>\d+)\.(?P<digest>[0-9a-f]{64})")


class OffsetCopies:
    """The copies of one checkpoint's offsets; whoever keeps is the holder of the lease."""

    def __init__(self, folder: RecordsFolder) -> None:
        self.failure: StorageError | None = None
        """Why old copies could not be removed."""
        self._reader = folder.reader("offsets")
        self._folder = folder
        self._kept: dict[str, dict[int, set[str]]] = {}

    def keep(self, query_id: str, batch_id: int, content: bytes) -> None:
        """Keep an entry; on return it survives a power cut.

        Raise HF2604 where other bytes are kept of this batch: it was planned again.
        """
        kept = self._batches(query_id)
        digest = hashlib.sha256(content).hexdigest()
        others = kept.get(batch_id, set()) - {digest}
        if others:
            raise self._planned_anew(query_id, batch_id, others)
        path = copy_path(query_id, batch_id, digest)
        if batch_id in kept and self._reader.read_many([path])[path] == content:
            return
        self._writer.replace(path, content)
        self._writer.settle()
        kept[batch_id] = {digest}
        self._prune(query_id, batch_id)

    def keep_previous(self, query_id: str, batch_id: int, content: bytes) -> None:
        """Keep the entry before a batch where no copy of it is known; raise HF2604 as `keep` does.

        Of an entry that an earlier batch kept, only the digest is compared: nothing is read.
        """
        digest = hashlib.sha256(content).hexdigest()
        if self._batches(query_id).get(batch_id) != {digest}:
            self.keep(query_id, batch_id, content)

    @property
    def location(self) -> str:
        """Where the copies are, as shown to people."""
        return self._reader.location

    def digests(self, query_id: str) -> Mapping[int, frozenset[str]]:
        """Return the SHA-256 of what is kept of each batch, at one listing."""
        return {batch: frozenset(ones) for batch, ones in self._listed(query_id).items()}

    def copy_of(self, query_id: str, batch_id: int) -> bytes | None:
        """Return the bytes kept of a batch, None where there are none; raise HF2603 for damaged."""
        digests = self._listed(query_id).get(batch_id, set())
        if len(digests) > 1:
            raise self._planned_anew(query_id, batch_id, digests)
        for digest in digests:
            path = copy_path(query_id, batch_id, digest)
            content = self._reader.read(path)
            if hashlib.sha256(content).hexdigest() != digest:
                message = f"the kept copy of the offsets of batch {batch_id} is damaged"
                raise CheckpointError("HF2603", message, at=f"{self._reader.location}/{path}")
            return content
        return None

    def batches(self, query_id: str) -> frozenset[int]:
        """Return the batches of a query of which a copy is kept; only names are read."""
        return frozenset(self._listed(query_id))

    def _batches(self, query_id: str) -> dict[int, set[str]]:
        """Return what is kept of a query; it is listed once, for only we add to it."""
        if query_id not in self._kept:
            self._writer = self._folder.writer("offsets")
            self._kept[query_id] = self._listed(query_id)
        return self._kept[query_id]

    def _listed(self, query_id: str) -> dict[int, set[str]]:
        listed: dict[int, set[str]] = {}
        for match in map(_NAME.fullmatch, self._reader.names(_part(query_id))):
            if match is not None:
                listed.setdefault(int(match["batch"]), set()).add(match["digest"])
        return listed

    def _prune(self, query_id: str, newest: int) -> None:
        """Drop the oldest batches, never the one that was just kept."""
        kept = self._kept[query_id]
        outlived = sorted(set(kept) - {newest}, reverse=True)[KEPT_OFFSETS - 1 :]
        paths = [copy_path(query_id, batch, digest) for batch in outlived for digest in kept[batch]]
        self.failure = prune(self._writer, (), paths)
        if self.failure is None:
            for batch in outlived:
                del kept[batch]

    def _planned_anew(self, query_id: str, batch_id: int, digests: set[str]) -> RefusedError:
        message = (
            f"batch {batch_id} was planned before with different offsets, of which there is a copy"
        )
        path = copy_path(query_id, batch_id, min(digests))
        return RefusedError("HF2604", message, at=f"{self._reader.location}/{path}")


def copy_path(query_id: str, batch_id: int, digest: str) -> str:
    """Name the copy of an entry below `offsets`."""
    return f"{_part(query_id)}/{batch_id}.{digest}"


def _part(query_id: str) -> str:
    return quote(query_id, safe="")
