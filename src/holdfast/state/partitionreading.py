"""The rows of one partition, from its files; a damaged snapshot is passed over where others do."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from holdfast.checkpoint.layout import Layout
from holdfast.errors import CheckpointError
from holdfast.findings import Finding, Place, Severity
from holdfast.format.spans import Changes
from holdfast.state.loading.chains import Chain, PartitionHistory
from holdfast.state.loading.links import LinkReader
from holdfast.state.loading.partition import living_entries
from holdfast.state.query.showing import shown_batch
from holdfast.state.rowdecoding import RowDecoder
from holdfast.storage.reading import Reader
from holdfast.storage.showing import place_within

if TYPE_CHECKING:
    from holdfast.state.query.keysearch import KeySearch

_HELD_BACK_BYTES = 32 << 20
"""So much is read before the first row is decoded: damage in a snapshot of usual size is met while
another one can still take its place."""

Unloadable = Callable[[str, str], CheckpointError]
"""Makes the error for a place and a reason; it knows which other batches can be loaded."""


@dataclass(frozen=True)
class PartitionReader:
    """Reads one partition of a store at a version."""

    reader: Reader
    layout: Layout
    decoder: RowDecoder
    partition: int
    history: PartitionHistory
    version: int
    memory_bytes: int
    search: KeySearch | None
    damaged: set[str]
    """Files known to be damaged; grows while reading."""
    findings: list[Finding]
    """What was met on the way; grows while reading."""
    unloadable: Unloadable

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Give the rows; raise HF2744 where a file is missing or damaged that nothing replaces."""
        while True:
            chain = self._chain()
            links = LinkReader(self.reader, self.layout, self.decoder.encoding)
            shown = False
            try:
                for batch in self._rows(chain, links):
                    shown = True
                    yield batch
            except CheckpointError as error:
                failed = links.failed
                if failed is None:
                    error.at = error.at or place_within(self.reader.location, self.history.folder)
                    raise
                self.damaged.add(failed.path)
                if shown or not failed.whole:
                    raise self.unloadable(error.at or failed.path, error.message) from error
                continue
            self._note(chain, links)
            return

    def _chain(self) -> Chain:
        chain = self.history.chain(self.version, self.damaged)
        if not chain.loadable:
            first = chain.breaks[0]
            at = place_within(self.reader.location, first.path)
            raise self.unloadable(at, str(first))
        return chain

    def _rows(self, chain: Chain, links: LinkReader) -> Iterator[pa.RecordBatch]:
        family = self.decoder.layout.family
        if family is not None and not self._has_family(chain, links, family):
            return
        if self.search is not None:
            links.wanted = self.search.stored_bytes
        living = living_entries(chain, links.changes, self.memory_bytes)
        for entries in _held_back(living) if self._replaceable(chain) else living:
            keys, values = self.decoder.decode(entries)
            batch = shown_batch(self.decoder.layout, self.partition, keys, values)
            batch = batch if self.search is None else self.search.among(batch)
            if len(batch):
                yield batch

    def _replaceable(self, chain: Chain) -> bool:
        """Tell whether other files would do, should the chain's snapshot be damaged."""
        wholes = {link.path for link in chain.links if link.whole}
        if not wholes or self.history.ids:
            # With ids, only the headers of changelogs would tell: nobody reads them for this.
            return bool(wholes)
        return self.history.chain(self.version, self.damaged | wholes).loadable

    def _has_family(self, chain: Chain, links: LinkReader, family: str) -> bool:
        """Ask the snapshot that is read anyway, or any other: numbers are never given anew."""
        if not chain.links:
            return False
        first = chain.links[0]
        snapshots = [first] if first.whole else self.history.zips(self.damaged)
        if not snapshots:
            broken = "".join(f"; {path} is damaged" for path in chain.passed_over)
            message = f"no snapshot of the partition tells the number of {family}{broken}"
            at = place_within(self.reader.location, self.history.folder)
            raise CheckpointError("HF2751", message, at=at)
        return links.find_family(snapshots[0], family)

    def _note(self, chain: Chain, links: LinkReader) -> None:
        self.findings.extend(links.overlooked)
        for path in chain.passed_over:
            message = f"{path} is damaged; older files were read in its place"
            self.findings.append(Finding("HF2747", Severity.WARNING, message, Place(path)))


def _held_back(living: Iterator[Changes]) -> Iterator[Changes]:
    held: list[Changes] = []
    used = 0
    for entries in living:
        held.append(entries)
        used += int(entries.keys.lengths.sum() + entries.values.lengths.sum())
        if used > _HELD_BACK_BYTES:
            yield from held
            held = []
    yield from held
