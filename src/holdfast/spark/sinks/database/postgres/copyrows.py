"""Turns Arrow columns into the bytes of PostgreSQL's COPY in its binary format.

The format is HEADER, rows, TRAILER; a row is the number of its fields in two bytes, and the fields.
Runs on executors.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from holdfast.spark.sinks.database.postgres.copyfields import Field, ends_in, joined
from holdfast.spark.sinks.database.postgres.copyvalues import field_of

HEADER = b"PGCOPY\n\xff\r\n\0" + bytes(8)
"""The signature, no flags, no extension."""
TRAILER = b"\xff\xff"


def copy_rows(attempt: int, columns: Sequence[pa.Array], kinds: Sequence[str]) -> memoryview:
    """Give the bytes of some rows: the attempt's number, then a value of each column's type."""
    fields = [Field((np.array(attempt, "i8"),))]
    fields += [field_of(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    rows = joined([np.array(len(fields), "i2")], fields, len(columns[0]))
    ends = ends_in(rows)
    return memoryview(rows.buffers()[2] or b"")[ends[0] : ends[-1]]
