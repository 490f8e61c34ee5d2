"""Changes that do not fit into memory, kept in temporary files by the hash of their keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

from holdfast.errors import CheckpointError
from holdfast.format.buffers import (
    DELETE_RANGE,
    Changes,
    arrow_numbers,
    gathered,
    hashed,
    numbers_of,
    spans_of,
)

BUCKET_BITS: Final = 6
BUCKETS: Final = 1 << BUCKET_BITS
DEEPEST: Final = 64 // BUCKET_BITS - 1
"""So often can a bucket that is still too large be split by further bits of the hash."""

_CHUNK_BYTES = 4 << 20
_SCHEMA = pa.schema(
    [("kind", pa.uint8()), ("key", pa.large_binary()), ("value", pa.large_binary())]
)


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for what does not fit into memory, and remove it with everything in it."""
    # Most states fit into memory.
    from tempfile import TemporaryDirectory, gettempdir

    with _disk(Path(gettempdir())):
        folder = TemporaryDirectory(prefix="holdfast-state-")
    with folder as name:
        yield Path(name)


class SpillFolder:
    """A temporary folder that is made when it is first needed, and removed with its content."""

    def __init__(self) -> None:
        self._made = ExitStack()
        self._path: Path | None = None

    def __call__(self) -> Path:
        """Return the folder."""
        if self._path is None:
            self._path = self._made.enter_context(temporary_folder())
        return self._path

    def __enter__(self) -> SpillFolder:
        return self

    def __exit__(self, *error: object) -> None:
        self._made.close()


class Buckets:
    """Temporary files, one a bucket; each keeps the order in which changes came."""

    def __init__(self, folder: Path, depth: int) -> None:
        self._folder = folder
        self._paths = [folder / f"{depth}-{bucket}.arrow" for bucket in range(BUCKETS)]
        self._shift = np.uint64(depth * BUCKET_BITS)
        with _disk(folder):
            self._writers = [pa.ipc.new_stream(str(path), _SCHEMA) for path in self._paths]

    def write(self, changes: Changes) -> None:
        """Put changes behind those that are there; a deleted range concerns every bucket."""
        start = 0
        for place in [*map(int, np.flatnonzero(changes.kinds == DELETE_RANGE)), len(changes)]:
            self._write_keys(changes.take(np.arange(start, place)))
            if place < len(changes):
                batch = _batch(changes.take(np.arange(place, place + 1)))
                for bucket in range(BUCKETS):
                    self._append(bucket, batch)
            start = place + 1

    def read(self) -> Iterator[Iterator[Changes]]:
        """Yield each bucket's changes in their order; a file is removed when it was read."""
        with _disk(self._folder):
            for writer in self._writers:
                writer.close()
        for path in self._paths:
            yield _changes(path)
            path.unlink()

    def _write_keys(self, changes: Changes) -> None:
        if not len(changes):
            return
        buckets = (hashed(changes.keys) >> self._shift) & np.uint64(BUCKETS - 1)
        order = np.argsort(buckets, kind="stable")
        batch = _batch(changes.take(order))
        cuts = np.searchsorted(buckets[order], np.arange(BUCKETS + 1, dtype=np.uint64))
        for bucket in range(BUCKETS):
            start, end = int(cuts[bucket]), int(cuts[bucket + 1])
            if start < end:
                self._append(bucket, batch.slice(start, end - start))

    def _append(self, bucket: int, batch: pa.RecordBatch) -> None:
        with _disk(self._folder):
            self._writers[bucket].write_batch(batch)


def _batch(changes: Changes) -> pa.RecordBatch:
    columns = [arrow_numbers(changes.kinds), gathered(changes.keys), gathered(changes.values)]
    return pa.RecordBatch.from_arrays(columns, schema=_SCHEMA)


def _changes(path: Path) -> Iterator[Changes]:
    with _disk(path.parent), pa.OSFile(str(path)) as file:
        for batch in _joined(pa.ipc.open_stream(file)):
            kinds, keys, values = batch.columns
            yield Changes(numbers_of(kinds), spans_of(keys), spans_of(values))


def _joined(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Put small pieces together: each one costs the reader the same, however small."""
    held: list[pa.RecordBatch] = []
    used = 0
    for batch in batches:
        held.append(batch)
        used += batch.nbytes
        if used >= _CHUNK_BYTES:
            yield from pa.Table.from_batches(held).combine_chunks().to_batches()
            held, used = [], 0
    if held:
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()


@contextmanager
def _disk(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        message = (
            f"the state does not fit into memory, and it cannot be written to {folder}: {error}"
        )
        raise CheckpointError("HF2752", message, at=str(folder)) from error
