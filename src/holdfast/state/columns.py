"""The columns in which rows are shown, and those inside of structs by their full names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from holdfast.errors import UsageError
from holdfast.format.buffers import arrow_numbers
from holdfast.state.layouts import Shown, StoreLayout
from holdfast.wording import nearest

_MOST_NAMES = 20


@dataclass(frozen=True)
class RowColumn:
    """One column, with the way that leads to it."""

    field: pa.Field
    names: tuple[str, ...]
    indices: tuple[int, ...]

    @property
    def name(self) -> str:
        """Its full name: `key.window.start`."""
        return ".".join(self.names)

    def values(self, batch: pa.RecordBatch) -> pa.Array:
        """Return its values; null wherever a struct around it is."""
        # Most who ask for columns only name them, and do not wait for Arrow's kernels.
        import pyarrow.compute as pc

        column = batch.column(self.indices[0])
        inner = list(self.indices[1:])
        return pc.struct_field(column, inner) if inner else column


def leaf_columns(schema: pa.Schema) -> tuple[RowColumn, ...]:
    """Return every column that is no struct itself, in the order of the rows."""
    return tuple(_leaves(schema, (), ()))


def find_column(schema: pa.Schema, path: Sequence[str]) -> RowColumn:
    """Find the column that is meant: by its full name, else within the key, else the value."""
    leaves = leaf_columns(schema)
    wanted = tuple(path)
    for within in ((), *((name,) for name in schema.names)):
        for leaf in leaves:
            if leaf.names == (*within, *wanted):
                return leaf
    raise _unknown(wanted, leaves)


def _leaves(
    fields: Sequence[pa.Field], names: tuple[str, ...], indices: tuple[int, ...]
) -> Iterator[RowColumn]:
    for index, field in enumerate(fields):
        way = (*names, field.name), (*indices, index)
        if pa.types.is_struct(field.type) and field.type.num_fields:
            yield from _leaves(list(field.type), *way)
        else:
            yield RowColumn(field, *way)


def _unknown(wanted: tuple[str, ...], leaves: Sequence[RowColumn]) -> UsageError:
    name = ".".join(wanted)
    inside = [leaf.name for leaf in leaves if set(wanted) <= set(leaf.names[:-1])]
    names = [leaf.name for leaf in leaves]
    if inside:
        message = f"{name} is a struct; its fields are {', '.join(inside[:_MOST_NAMES])}"
        return UsageError("HF2772", message)
    short = {leaf.names[-1]: leaf.name for leaf in leaves} | {one: one for one in names}
    near = nearest(name, short)
    hint = f" (did you mean {short[near]}?)" if near else ""
    known = ", ".join(names[:_MOST_NAMES]) + (", …" if len(names) > _MOST_NAMES else "")
    return UsageError("HF2772", f"there is no column {name}{hint}; the columns are: {known}")


_TIMER = pa.struct([("expiration_timestamp_ms", pa.int64())])


def shown_batch(
    layout: StoreLayout, partition: int, keys: pa.StructArray, values: pa.StructArray
) -> pa.RecordBatch:
    """Return the rows of a partition: partition, key, user_map_key, value, expires_at_ms."""
    partitions = arrow_numbers(np.full(len(keys), partition, np.int32))
    columns: dict[str, pa.Array] = {"partition": partitions}
    columns["key"] = keys.field("key") if layout.nested_key else keys
    if layout.shown is Shown.MAP:
        columns["user_map_key"] = keys.field("userKey")
    if layout.shown is Shown.TIMER:
        expiry = keys.field("expiryTimestampMs")
        columns["value"] = pa.StructArray.from_arrays([expiry], fields=list(_TIMER))
    else:
        columns["value"] = values.field("value") if layout.has_ttl else values
    if layout.has_ttl:
        columns["expires_at_ms"] = values.field("ttlExpirationMs")
    return pa.RecordBatch.from_arrays(list(columns.values()), names=list(columns))


def shown_schema(layout: StoreLayout, key: pa.Schema, value: pa.Schema) -> pa.Schema:
    """Return the columns that are shown of a store."""
    keys, values = pa.nulls(0, pa.struct(key)), pa.nulls(0, pa.struct(value))
    return shown_batch(layout, 0, keys, values).schema
