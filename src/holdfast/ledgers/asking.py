"""Asks an output folder which memory of batches it has, and reads it."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from holdfast.errors import StorageError
from holdfast.ledgers import delta, fileoutput, sparkfilesink
from holdfast.ledgers.delta import DeltaLedger, read_delta_ledger
from holdfast.ledgers.lastcommitted import LastCommitted
from holdfast.ledgers.manifests import ManifestLedger, read_manifest_ledger
from holdfast.ledgers.sparkfilesink import FileSinkLog, read_file_sink_log
from holdfast.storage.reading import Reader

OpenBelow = Callable[[str], Reader]
"""Opens a folder directly below the output folder, or below `.holdfast` beside it, for reading."""


@dataclass(frozen=True)
class SinkMemory:
    """What an output folder remembers of batches; at most one of the three is there."""

    location: str
    files: FileSinkLog | None = None
    delta: DeltaLedger | None = None
    manifests: ManifestLedger | None = None
    failure: StorageError | None = None
    """Why it could not be asked."""

    @property
    def kind(self) -> str:
        """`delta`, `files` or `none`."""
        return "delta" if self.delta else "files" if self.files or self.manifests else "none"

    def last_committed(self, query_id: str | None) -> LastCommitted:
        """Give the newest batch that the sink holds of this query; never raises."""
        ledger = self.delta or self.files or self.manifests
        if ledger is not None:
            return ledger.last_committed(query_id)
        if self.failure is not None:
            return LastCommitted(None, f"the sink could not be read: {self.failure.message}")
        return LastCommitted(None, "the output folder holds no log of batches")


def ask_sink(
    location: str,
    open_below: OpenBelow,
    batches: Collection[int] = (),
    open_beside: OpenBelow | None = None,
) -> SinkMemory:
    """Read what the output folder remembers; `batches` are those whose entries are looked into.

    Only the logs are listed, never the data files, of which there may be millions.
    """
    try:
        table = read_delta_ledger(open_below(delta.LOG_FOLDER))
        if table is not None:
            return SinkMemory(location, delta=table)
        files = read_file_sink_log(open_below(sparkfilesink.LOG_FOLDER), batches)
        if files is not None or open_beside is None:
            return SinkMemory(location, files=files)
        manifests = read_manifest_ledger(open_beside(fileoutput.MANIFESTS))
    except StorageError as failure:
        return SinkMemory(location, failure=failure)
    return SinkMemory(location, manifests=manifests)
