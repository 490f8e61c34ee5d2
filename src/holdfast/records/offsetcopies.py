"""Keeps the bytes of the newest offsets entries: a lost or torn one can be put back exactly.

`offsets/<query id>/<batch id>.<SHA-256 of the bytes>`: the name alone tells whether a batch was
planned before with other offsets, and the content can be verified against it. Copies of batches
that a plan takes back are set aside in `offsets-aside/<act>/<query id>/`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from urllib.parse import quote

from holdfast.errors import CheckpointError, RefusedError, StorageError
from holdfast.records.folder import RecordsFolder, prune

KEPT_OFFSETS = 100
"""How many batches of a query are kept."""
ASIDE_PART = "offsets-aside"
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

    def set_aside(self, query_id: str, first: int, act: str) -> tuple[int, ...]:
        """Set the copies of every batch from `first` on aside, and name the batches.

        Their ids may be planned again afterwards. Each is written to its new place before it is
        removed from the old one, so that this can be repeated after a kill.
        """
        aside, writer = self._folder.writer(ASIDE_PART), self._folder.writer("offsets")
        moved = self._paths(query_id, self._listed(query_id), first)
        for path in moved.values():
            aside.replace(f"{act}/{path}", self._reader.read(path))
        aside.settle()
        for path in moved.values():
            writer.remove(path)
        writer.settle()
        self._kept.pop(query_id, None)
        there = self._aside(query_id, act)
        return tuple(sorted({batch for batch, _ in there}))

    def take_back(self, query_id: str, act: str) -> None:
        """Put the copies back that an act set aside; doing it twice is no error."""
        aside, writer = self._folder.writer(ASIDE_PART), self._folder.writer("offsets")
        reader = self._folder.reader(ASIDE_PART)
        there = self._aside(query_id, act)
        for path in there.values():
            writer.replace(path, reader.read(f"{act}/{path}"))
        writer.settle()
        for path in there.values():
            aside.remove(f"{act}/{path}")
        aside.settle()
        self._kept.pop(query_id, None)

    def _aside(self, query_id: str, act: str) -> dict[tuple[int, str], str]:
        reader = self._folder.reader(ASIDE_PART)
        listed = _copies(reader.names(f"{act}/{_part(query_id)}"))
        return self._paths(query_id, listed, 0)

    def _paths(
        self, query_id: str, listed: Mapping[int, set[str]], first: int
    ) -> dict[tuple[int, str], str]:
        return {
            (batch, digest): copy_path(query_id, batch, digest)
            for batch, digests in sorted(listed.items())
            for digest in sorted(digests)
            if batch >= first
        }

    def _batches(self, query_id: str) -> dict[int, set[str]]:
        """Return what is kept of a query; it is listed once, for only we add to it."""
        if query_id not in self._kept:
            self._writer = self._folder.writer("offsets")
            self._kept[query_id] = self._listed(query_id)
        return self._kept[query_id]

    def _listed(self, query_id: str) -> dict[int, set[str]]:
        return _copies(self._reader.names(_part(query_id)))

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


def _copies(names: Iterable[str]) -> dict[int, set[str]]:
    listed: dict[int, set[str]] = {}
    for match in map(_NAME.fullmatch, names):
        if match is not None:
            listed.setdefault(int(match["batch"]), set()).add(match["digest"])
    return listed


def copy_path(query_id: str, batch_id: int, digest: str) -> str:
    """Name the copy of an entry below `offsets`."""
    return f"{_part(query_id)}/{batch_id}.{digest}"


def _part(query_id: str) -> str:
    return quote(query_id, safe="")
