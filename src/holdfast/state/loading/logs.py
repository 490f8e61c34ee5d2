"""What the two logs pin of a batch's state: provider, partitions, encodings, ids of files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.recovery.state import gathers_all_rows, unique_id
from holdfast.checkpoint.releases import PARTITIONS, PROVIDER
from holdfast.checkpoint.statefiles import DEFAULT_STORE, PartitionFiles, StoreFiles
from holdfast.errors import CheckpointError, DecodeError, UsageError
from holdfast.format.logs.commits import CommitEntry, decode_commit
from holdfast.format.logs.offsets import decode_offsets
from holdfast.state.decoding import Encoding
from holdfast.state.loading.chains import PartitionHistory
from holdfast.state.loading.links import Lineages
from holdfast.storage.location import place_within
from holdfast.storage.reading import Reader

_STORE = "spark.sql.streaming.stateStore"
_ENCODING = f"{_STORE}.encodingFormat"
_ROW_CHECKSUM = f"{_STORE}.rowChecksum.enabled"
_MERGE_OPERATOR = f"{_STORE}.rocksdb.mergeOperatorVersion"
_FEW_IDS = 3


@dataclass(frozen=True)
class StateLog:
    """A checkpoint's logs, as far as they concern its state."""

    reader: Reader
    picture: Picture

    @property
    def committed(self) -> tuple[int, ...]:
        """The batches that are committed, the oldest first."""
        return self.picture.layout.commits.ids

    def committed_batch(self, batch_id: int | None) -> int:
        """Return a batch that is committed, by default the newest."""
        ids = self.committed
        if not ids:
            raise UsageError("HF2743", "no batch is committed yet", at=self.picture.location)
        if batch_id is not None and batch_id not in ids:
            message = f"batch {batch_id} is not committed; committed batches: {_spelled(ids)}"
            raise UsageError("HF2743", message, at=self.picture.location)
        return ids[-1] if batch_id is None else batch_id

    def settings(self, batch_id: int) -> Mapping[str, str]:
        """Return the settings that a batch pinned; those of the newest where its entry is gone."""
        entry = self.picture.offsets.get(batch_id)
        item = self.picture.layout.offsets.files.get(batch_id)
        if entry is None and item is not None:
            with _located(self.reader, item.path):
                entry = decode_offsets(self.reader.read(item.path))
        metadata = None if entry is None else entry.metadata
        return self.picture.settings if metadata is None else metadata.settings

    def encoding(self, batch_id: int, store: StoreFiles) -> Encoding:
        """Return how a store's entries were written at a batch."""
        settings = self.settings(batch_id)
        return Encoding(
            rocksdb=self._is_rocksdb(settings.get(PROVIDER, ""), store),
            avro=settings.get(_ENCODING) == "avro",
            row_checksum=settings.get(_ROW_CHECKSUM) == "true",
            # Spark takes the first merge operator where none is pinned.
            delimiter=b"" if settings.get(_MERGE_OPERATOR, "1") == "2" else b",",
        )

    def partitions(self, batch_id: int, operator_id: int, store: StoreFiles) -> int:
        """Return how many partitions a store had at a batch."""
        if gathers_all_rows(self.picture, operator_id):
            return 1
        pinned = self.settings(batch_id).get(PARTITIONS, "")
        return int(pinned) if pinned.isdecimal() else max(store.partitions, default=-1) + 1

    def histories(
        self, operator_id: int, store: StoreFiles, partitions: Iterable[int], batches: Iterable[int]
    ) -> dict[int, PartitionHistory]:
        """Return the files of partitions, with the ids by which commits of batches know them."""
        commits = {batch: self._commit(batch) for batch in batches}
        return {
            partition: self._history(operator_id, store, partition, commits)
            for partition in partitions
        }

    def _history(
        self,
        operator_id: int,
        store: StoreFiles,
        partition: int,
        commits: Mapping[int, CommitEntry],
    ) -> PartitionHistory:
        files = store.partitions.get(partition, PartitionFiles())
        own = "" if store.name == DEFAULT_STORE else f"/{store.name}"
        ids = {
            batch + 1: unique_id(commit, operator_id, partition, store.name)
            for batch, commit in commits.items()
        }
        return PartitionHistory(
            f"state/{operator_id}/{partition}{own}",
            files,
            {version: one for version, one in ids.items() if one},
            Lineages(self.reader, files),
        )

    def _commit(self, batch_id: int) -> CommitEntry:
        """Read a commit that may be older than what the picture holds."""
        entry = self.picture.commits.get(batch_id)
        if entry is not None:
            return entry
        path = self.picture.layout.commits.files[batch_id].path
        with _located(self.reader, path):
            return decode_commit(self.reader.read(path))

    def _is_rocksdb(self, provider: str, store: StoreFiles) -> bool:
        if "RocksDB" in provider or "HDFSBacked" in provider:
            return "RocksDB" in provider
        files = store.partitions.values()
        if any(one.deltas or one.snapshots for one in files):
            return False
        if any(one.zips or one.changelogs for one in files):
            return True
        message = f"the state of store {store.name} is kept by {provider or 'an unknown provider'}"
        raise CheckpointError("HF2750", message, at=self.picture.location)


def _spelled(ids: tuple[int, ...]) -> str:
    return ", ".join(map(str, ids)) if len(ids) <= _FEW_IDS else f"{ids[0]} to {ids[-1]}"


@contextmanager
def _located(reader: Reader, path: str) -> Iterator[None]:
    try:
        yield
    except DecodeError as error:
        error.at = place_within(reader.location, path)
        raise
