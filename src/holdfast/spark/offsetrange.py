"""Reads the two offsets entries that the rows of a batch follow from, as they are on disk now."""

from __future__ import annotations

from holdfast.errors import NotFoundError, RefusedError, StorageError
from holdfast.ledgers.identity import OffsetRange
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.storage.reading import Reader


def read_range(
    checkpoint: Reader, copies: OffsetCopies, query_id: str, batch_id: int
) -> OffsetRange:
    """Return the range of a planned batch; raise StorageError, or HF2606 where it has no beginning.

    Both entries are read each time, side by side. Remembering the previous one would spare a small
    read, and hide that its file was changed under a running query, which plans from its memory.
    """
    entry_path, previous_path = f"offsets/{batch_id}", f"offsets/{batch_id - 1}"
    read = checkpoint.read_many([entry_path, *([previous_path] if batch_id else [])])
    entry = _bytes(read[entry_path])
    if batch_id == 0:
        return OffsetRange(0, b"", entry)
    previous = read[previous_path]
    if isinstance(previous, NotFoundError):
        # Spark never removes it: a start fails without it, and what is purged when batch N is
        # planned is older than N - minBatchesToRetain, which has to be positive. So the log does
        # not begin here, it has lost an entry; and what was kept of it is what N was planned from.
        kept = copies.copy_of(query_id, batch_id - 1)
        if kept is None:
            message = f"{previous_path} is missing, and no copy of it is kept: where batch "
            message += f"{batch_id} begins is unknown"
            raise RefusedError("HF2606", message, at=f"{checkpoint.location}/{previous_path}")
        previous = kept
    return OffsetRange(batch_id, _bytes(previous), entry)


def _bytes(read: bytes | StorageError) -> bytes:
    if isinstance(read, StorageError):
        raise read
    return read
