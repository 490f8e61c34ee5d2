"""Entries of a store decoded into the columns of its keys and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from holdfast.format.buffers import Changes, Spans, arrow_numbers, cast, gathered, taken
from holdfast.format.rocksdb.keys import (
    KeyEncoder,
    KeyLayout,
    decode_key_encoder,
    ordered_columns,
    split_keys,
)
from holdfast.format.rocksdb.values import split_values
from holdfast.format.rows.avro import decode_avro, decode_avro_versions
from holdfast.format.rows.types import arrow_schema
from holdfast.format.rows.unsaferow import decode_rows
from holdfast.state.layouts import StoreLayout

_ONLY_BYTES = pa.schema([("bytes", pa.binary())])
"""What is shown of keys and values of which no schema tells the columns."""
_FAMILY_BYTES = 2
_EMPTY_ROW_BYTES = 16


@dataclass(frozen=True)
class Encoding:
    """How a store's entries are written; all of it is pinned by the checkpoint."""

    rocksdb: bool
    avro: bool = False
    row_checksum: bool = False
    delimiter: bytes = b""
    """What RocksDB puts between the values of a list."""


@dataclass(frozen=True)
class RowDecoder:
    """Decodes the entries of one store."""

    layout: StoreLayout
    encoding: Encoding

    @cached_property
    def key_columns(self) -> pa.Schema:
        """The columns of the stored key."""
        return _columns(self.layout.key_json)

    @cached_property
    def value_columns(self) -> pa.Schema:
        """The columns of the stored value."""
        return _columns(self.layout.value_json)

    def decode(self, entries: Changes) -> tuple[pa.StructArray, pa.StructArray]:
        """Return keys and values, as many of each; a list gives its key once for each element."""
        if self.layout.key_json is None or self.layout.value_json is None:
            return _as_bytes(entries.keys), _as_bytes(entries.values)
        if not self.encoding.rocksdb:
            return decode_rows(entries.keys, self.key_columns), self._rows(entries.values)
        keys = self._rocks_keys(self._without_family(entries.keys))
        values = split_values(
            entries.keys,
            entries.values,
            multiple=self.layout.multi_value,
            delimiter=self.encoding.delimiter,
            row_checksum=self.encoding.row_checksum,
        )
        if self.layout.multi_value:
            keys = taken(keys, arrow_numbers(values.owners))
        return keys, self._rows(values.rows)

    @cached_property
    def _encoder(self) -> KeyEncoder:
        return decode_key_encoder(self.layout.encoder_json)

    def _without_family(self, keys: Spans) -> Spans:
        if self.layout.family is None:
            return keys
        return Spans(keys.data, keys.starts + _FAMILY_BYTES, keys.lengths - _FAMILY_BYTES)

    def _rocks_keys(self, keys: Spans) -> pa.StructArray:
        parts = split_keys(keys, self._encoder)
        if self._encoder.layout is KeyLayout.NO_PREFIX:
            return self._key_rows(parts.rows[0], range(len(self.key_columns)))
        if parts.timestamps is not None:
            rest = self._key_rows(parts.rows[0], range(len(self.key_columns) - 1))
            return self._joined([*rest.flatten(), arrow_numbers(parts.timestamps)])
        if self._encoder.layout is KeyLayout.PREFIX_SCAN:
            first: Sequence[int] = range(self._encoder.prefix_columns)
            prefix = self._prefix(parts.rows[0], first)
        else:
            first = self._encoder.ordinals
            types = [self.key_columns.field(index).type for index in first]
            prefix = ordered_columns(parts.rows[0], types, avro=self.encoding.avro)
        others = [index for index in range(len(self.key_columns)) if index not in first]
        rest = self._key_rows(parts.rows[1], others).flatten() if len(parts.rows) > 1 else []
        found = dict(zip([*first, *others], [*prefix, *rest], strict=True))
        return self._joined([found[index] for index in range(len(self.key_columns))])

    def _prefix(self, rows: Spans, indices: Sequence[int]) -> list[pa.Array]:
        columns = _some(self.key_columns, indices)
        # Prefixes alone name no schema: Spark does not let the grouping key change.
        decoded = decode_avro(rows, columns) if self.encoding.avro else decode_rows(rows, columns)
        return list(decoded.flatten())

    def _key_rows(self, rows: Spans, indices: Sequence[int]) -> pa.StructArray:
        columns = _some(self.key_columns, indices)
        if not self.encoding.avro:
            return decode_rows(rows, columns)
        versions = _versions(self.layout.key_versions)
        written = {number: _some(one, indices) for number, one in versions.items()}
        return decode_avro_versions(rows, written, columns)

    def _rows(self, rows: Spans) -> pa.StructArray:
        if self.encoding.avro:
            versions = _versions(self.layout.value_versions)
            return decode_avro_versions(rows, versions, self.value_columns)
        if len(self.value_columns) > 1 and _all_empty(rows):
            # Spark 3.2 and 3.3 recorded the whole input row for a deduplication, and kept nothing.
            return pa.nulls(len(rows), pa.struct(self.value_columns))
        return decode_rows(rows, self.value_columns)

    def _joined(self, columns: list[pa.Array]) -> pa.StructArray:
        return pa.StructArray.from_arrays(columns, fields=list(self.key_columns))


def _columns(schema_json: str | None) -> pa.Schema:
    return _ONLY_BYTES if schema_json is None else arrow_schema(schema_json)


def _versions(written: Mapping[int, str]) -> dict[int, pa.Schema]:
    return {number: arrow_schema(schema_json) for number, schema_json in written.items()}


def _some(columns: pa.Schema, indices: Sequence[int]) -> pa.Schema:
    return pa.schema([columns.field(index) for index in indices])


def _as_bytes(spans: Spans) -> pa.StructArray:
    array = cast(gathered(spans), pa.binary())
    return pa.StructArray.from_arrays([array], fields=list(_ONLY_BYTES))


def _all_empty(rows: Spans) -> bool:
    """Every row is one null column and nothing else."""
    if not len(rows) or np.any(rows.lengths != _EMPTY_ROW_BYTES):
        return False
    return bool(np.all(rows.data[rows.starts] == 1))
