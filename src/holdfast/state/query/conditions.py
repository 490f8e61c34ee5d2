"""Which rows of a store are asked for: those of one key, or all that a condition lets pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.errors import UsageError
from holdfast.format.buffers import arrow_numbers, equal, numbers_of, present, taken
from holdfast.format.rocksdb.keys import KeyLayout, decode_key_encoder
from holdfast.format.rows.types import typed_row
from holdfast.format.rows.unsaferow import encode_row
from holdfast.format.state.partitionhash import partition_of
from holdfast.state.columns import RowColumn, find_column
from holdfast.state.decoding import RowDecoder
from holdfast.state.query.parser import (
    ColumnPath,
    IsNull,
    Joined,
    Literal,
    Membership,
    Not,
    Tree,
    parse_condition,
    refuse,
)
from holdfast.state.query.values import given_value


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


_COMPARED = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}
_JOINED = {"and": pc.and_kleene, "or": pc.or_kleene}


@dataclass(frozen=True)
class Condition:
    """A condition on rows of one schema; what does not fit the schema is refused at once.

    Nulls are as in SQL: a comparison with one is neither true nor false, and such rows do not pass.
    """

    text: str
    schema: pa.Schema

    def __post_init__(self) -> None:
        empty = [pa.nulls(0, field.type) for field in self.schema]
        self._mask(self._tree, pa.RecordBatch.from_arrays(empty, schema=self.schema))

    def among(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Leave the rows that fit."""
        return batch.filter(self._mask(self._tree, batch))

    @cached_property
    def _tree(self) -> Tree:
        return parse_condition(self.text)

    def _mask(self, tree: Tree, batch: pa.RecordBatch) -> pa.Array:
        if isinstance(tree, Joined):
            return reduce(_JOINED[tree.word], [self._mask(one, batch) for one in tree.parts])
        if isinstance(tree, Not):
            return pc.invert(self._mask(tree.inner, batch))
        column = self._column(tree.column)
        values = column.values(batch)
        if isinstance(tree, IsNull):
            return values.is_null()
        self._refuse_nested(tree.column, column)
        if isinstance(tree, Membership):
            equal = [self._compared(tree.column, column, "=", one, values) for one in tree.literals]
            return reduce(pc.or_kleene, equal)
        return self._compared(tree.column, column, tree.operator, tree.literal, values)

    def _column(self, asked: ColumnPath) -> RowColumn:
        try:
            return find_column(self.schema, asked.path)
        except UsageError as error:
            error.at = f"character {asked.at + 1} of the condition {self.text}"
            raise

    def _refuse_nested(self, asked: ColumnPath, column: RowColumn) -> None:
        if pa.types.is_nested(column.field.type) or pa.types.is_null(column.field.type):
            message = f"{column.name} is of type {column.field.type}: only `is null` is supported"
            refuse(self.text, asked.at, message)

    def _compared(
        self,
        asked: ColumnPath,
        column: RowColumn,
        operator: str,
        literal: Literal,
        values: pa.Array,
    ) -> pa.Array:
        if operator == "like":
            if not pa.types.is_string(column.field.type):
                message = f"{column.name} is of type {column.field.type}: `like` requires a string"
                refuse(self.text, asked.at, message)
            return pc.match_like(values, literal.text)
        scalar = self._scalar(column.field, literal)
        if pa.types.is_integer(values.type) and pa.types.is_floating(scalar.type):
            # Arrow refuses to compare large numbers with a fraction, where a little less is enough.
            values = values.cast(scalar.type, safe=False)
        return _COMPARED[operator](values, scalar)

    def _scalar(self, field: pa.Field, literal: Literal) -> pa.Scalar:
        try:
            return _scalar(field, literal)
        except UsageError as error:
            refuse(self.text, literal.at, error.message)
        except (pa.ArrowException, OverflowError):
            message = f"column {field.name!r} is of type {field.type}, which {literal.text} is not"
            refuse(self.text, literal.at, message)


def _scalar(field: pa.Field, literal: Literal) -> pa.Scalar:
    """Return the literal as a value of the column, or as a number that it can be held against."""
    kind, value = field.type, literal.value
    if isinstance(value, bool):
        return _typed(literal.text, field)
    if isinstance(value, (int, float)):
        if pa.types.is_floating(kind):
            return arrow_numbers(np.array([value], np.float64)).cast(kind, safe=False)[0]
        if pa.types.is_integer(kind):
            number = np.float64 if isinstance(value, float) else np.int64
            return arrow_numbers(np.array([value], number))[0]
        return _typed(literal.text if pa.types.is_decimal(kind) else value, field)
    return _typed(given_value(value, field), field)


def _typed(value: object, field: pa.Field) -> pa.Scalar:
    return typed_row([value], pa.schema([field])).field(0)[0]
