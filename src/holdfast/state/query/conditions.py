"""Which rows a condition lets pass, reported by Arrow for whole columns at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from holdfast.errors import UsageError
from holdfast.format.buffers import arrow_numbers
from holdfast.format.rows.types import typed_row
from holdfast.state.columns import RowColumn, find_column
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
