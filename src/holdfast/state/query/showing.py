"""Decoded keys and values in the columns that are shown: maps, timers and times to live apart."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from holdfast.format.arrowarrays import arrow_numbers
from holdfast.state.layouts import Shown, StoreLayout

_TIMER = pa.struct([("expiration_timestamp_ms", pa.int64())])


def shown_batch(
    layout: StoreLayout, partition: int, keys: pa.StructArray, values: pa.StructArray
) -> pa.RecordBatch:
    """Give the rows of a partition: partition, key, user_map_key, value, expires_at_ms."""
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
    """Give the columns that are shown of a store."""
    keys, values = pa.nulls(0, pa.struct(key)), pa.nulls(0, pa.struct(value))
    return shown_batch(layout, 0, keys, values).schema
