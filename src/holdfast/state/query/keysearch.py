"""One key of a store: its partition, its bytes, and the rows that are its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from holdfast.errors import UsageError
from holdfast.format.buffers import arrow_numbers, equal, numbers_of, present, taken
from holdfast.format.rocksdb.keys import KeyLayout, decode_key_encoder
from holdfast.format.rows.types import typed_row
from holdfast.format.rows.unsaferow import encode_row
from holdfast.format.state.partitionhash import partition_of
from holdfast.state.decoding import RowDecoder


@dataclass(frozen=True)
class KeySearch:
    """The columns of a key that are asked for, with their values."""

    decoder: RowDecoder
    wanted: Mapping[str, object]

    def __post_init__(self) -> None:
        unknown = [name for name in self.wanted if name not in self._columns.names]
        if unknown or not self.wanted:
            message = f"there is no key column {unknown[0]!r}" if unknown else "no column was given"
            raise UsageError("HF2748", f"{message}; the key has {self._described()}")
        self._typed(list(self.wanted))

    def partition(self, partitions: int) -> int | None:
        """Return the one partition that can contain the key; None if too few columns are given."""
        if partitions == 1:
            return 0
        placed_by = self.decoder.layout.placed_by
        names = self._columns.names[: len(self._columns) if placed_by is None else placed_by]
        if self._only_bytes or (placed_by is None and not self.decoder.layout.nested_key):
            return None
        if not all(name in self.wanted for name in names):
            return None
        columns = pa.schema([self._columns.field(name) for name in names])
        return partition_of([self.wanted[name] for name in names], columns, partitions)

    @cached_property
    def stored_bytes(self) -> bytes | None:
        """The bytes of the whole key behind its column family, where they are known."""
        encoding, layout = self.decoder.encoding, self.decoder.layout
        spec = decode_key_encoder(layout.encoder_json)
        plain = not encoding.rocksdb or spec.layout is KeyLayout.NO_PREFIX
        if not plain or encoding.avro or layout.nested_key or self._only_bytes:
            return None
        if not all(name in self.wanted for name in self._columns.names):
            return None
        row = encode_row([self.wanted[name] for name in self._columns.names], self._columns)
        return b"\0" + row if encoding.rocksdb else row

    def among(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Leave the rows whose key has the values that are asked for."""
        keys = batch.column("key")
        mask = np.ones(len(batch), np.bool_)
        typed = self._typed(list(self.wanted))
        for index, name in enumerate(self.wanted):
            mask &= _equal(keys.field(name), typed.field(index)[0])
        return taken(batch, arrow_numbers(np.flatnonzero(mask)))

    @cached_property
    def _columns(self) -> pa.Schema:
        columns = self.decoder.key_columns
        if self.decoder.layout.nested_key:
            return pa.schema(list(columns.field("key").type))
        return columns

    @property
    def _only_bytes(self) -> bool:
        return self.decoder.layout.key_json is None

    def _typed(self, names: Sequence[str]) -> pa.StructArray:
        columns = pa.schema([self._columns.field(name) for name in names])
        return typed_row([self.wanted[name] for name in names], columns)

    def _described(self) -> str:
        return ", ".join(f"{field.name} ({field.type})" for field in self._columns) or "no columns"


def _equal(column: pa.Array, wanted: pa.Scalar) -> npt.NDArray[np.bool_]:
    if not wanted.is_valid:
        return ~numbers_of(present(column))
    if pa.types.is_nested(column.type):
        # Arrow compares no nested values; whoever asks by a part of such a key waits for it.
        expected = wanted.as_py()
        return np.array([one == expected for one in column.to_pylist()], np.bool_)
    found = equal(column, wanted)
    same: npt.NDArray[np.bool_] = numbers_of(found) & numbers_of(present(found))
    return same
