"""What a folder of files holds of a query, and how it gives batches back: without Spark."""

from __future__ import annotations

from collections.abc import Collection

from holdfast.errors import SinkError, StorageError
from holdfast.ledgers.files.commit import FileCommits, sink_errors
from holdfast.ledgers.files.manifests import read_manifest_ledger
from holdfast.ledgers.files.output import FileOutput
from holdfast.ledgers.files.startcheck import look_at_folder
from holdfast.ledgers.sinkstate import CommittedOffsets, LastCommitted, SinkState


class HeldFiles:
    """A folder of files with its manifests."""

    def __init__(self, output: FileOutput, kind: str) -> None:
        self._output = output
        self._commits = FileCommits(output)
        self.kind = kind
        self.identity: str | None = output.location.shown

    def last_committed(self, query_id: str) -> LastCommitted:
        """Return the newest batch that a manifest tells of, without Spark; never raises."""
        try:
            ledger = read_manifest_ledger(self._commits.log.reader)
        except (SinkError, StorageError) as error:
            return LastCommitted.unknown(f"the sink could not be read: {error.message}")
        if ledger is None:
            return LastCommitted.nothing("no batch was ever committed to this folder")
        return ledger.last_committed(query_id)

    def offsets_of(self, query_id: str, batch_id: int) -> CommittedOffsets:
        """Return what the ledger has of one batch; never raises."""
        return self._commits.log.offsets_of(query_id, batch_id)

    def sight(self, query_id: str | None) -> SinkState:
        """Return what is in the folder and what its manifests hold of the query."""
        with sink_errors(str(self.identity)):
            return look_at_folder(self._output, self._commits.log, query_id)

    def queries(self) -> frozenset[str]:
        """Name every query that has a manifest; empty where they can't be read."""
        try:
            return self._commits.log.queries()
        except (SinkError, StorageError):
            return frozenset()

    def rewind(self, query_id: str, batch_id: int, *, generation: int) -> None:
        """Take back every batch after this one, with its files."""
        self._commits.rewind(query_id, batch_id, generation=generation)

    def clear(self, *, generation: int, queries: Collection[str] | None = None) -> None:
        """Remove every file of the sink, and all that is remembered of batches."""
        self._commits.clear(generation=generation, queries=queries)

    def fence(self, query_id: str | None, *, generation: int) -> None:
        """Lock older drivers of this query out; of every query where no batch is there."""
        self._commits.fence(query_id, generation=generation)
