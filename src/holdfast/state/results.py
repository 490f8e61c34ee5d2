"""What a question about state may say, and what `state` answers: rows, their files, a summary."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from holdfast.answers import OneLine
from holdfast.errors import UsageError

if TYPE_CHECKING:
    import pyarrow as pa


MEMORY_BYTES = 300_000_000
"""What reading state may take before it goes on through temporary files."""
FIRST_ROWS = 20
"""How many rows are shown."""
COUNTED_ROWS = 50_000
"""Once enough rows are shown, so many are counted before reading ends without a total."""


Key = Mapping[str, object] | str | int
"""Columns of the key with their values; or the value alone, of a key of one column."""


def key_columns(key: Key, columns: pa.StructType) -> Mapping[str, object]:
    """Return the columns that are asked for, with values of their types where text can be one."""
    from holdfast.state.query.values import given_value

    asked = key if isinstance(key, Mapping) else _named(key, columns)
    known = {field.name: field for field in columns}
    return {
        name: given_value(value, known[name]) if name in known else value
        for name, value in asked.items()
    }


def _named(key: str | int, columns: pa.StructType) -> Mapping[str, object]:
    if isinstance(key, str) and key.lstrip().startswith("{"):
        return _decoded(key)
    names = [field.name for field in columns]
    if len(names) != 1:
        message = f"the key has {len(names)} columns, but only one value was given"
        raise UsageError("HF2776", f"{message}; the columns are: {', '.join(names)}")
    return {names[0]: key}


def _decoded(text: str) -> Mapping[str, object]:
    try:
        found: Mapping[str, object] = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"character {error.pos + 1} of the key {text}"
        message = f"at character {error.pos + 1}: this is not a JSON object: {error.msg.lower()}"
        raise UsageError("HF2776", message, at=place) from error
    except ValueError as error:
        # Python's own limit on the digits of an integer; what is malformed was caught above.
        raise UsageError("HF2776", "a number in the JSON object has thousands of digits") from error
    except RecursionError as error:
        raise UsageError("HF2776", "the JSON object is nested too deeply") from error
    return found


@dataclass(frozen=True)
class StateRow:
    """One row of a store: times are text in UTC, bytes are Base64, decimals are text."""

    partition: int
    """The partition that holds it."""
    key: Mapping[str, object]
    """Column to value, in Spark's order; of a name that repeats, the second is `name#2`."""
    value: Mapping[str, object] | None
    """The same of the value."""
    user_map_key: Mapping[str, object] | None = None
    """The key within a map state; None for every other store."""
    expires_at_ms: int | None = None
    """When its time to live ends, in milliseconds; None where the store has none."""


@dataclass(frozen=True)
class StateColumn:
    """One column that can be shown and asked for."""

    name: str
    """Its full name, such as `key.window.start`."""
    type: str
    """Its type in Arrow's words."""


@dataclass(frozen=True)
class PartitionSummary:
    """What one partition holds."""

    partition: int
    """Its number."""
    keys: int
    """Its rows."""
    row_bytes: int
    """Their size, decoded."""


@dataclass(frozen=True)
class EventTimes:
    """The times that the watermark is compared with."""

    column: str
    """The column that they stand in."""
    oldest: str | None
    """The oldest, in UTC; None where there is no row."""
    newest: str | None
    """The newest, in UTC; None where there is no row."""


@dataclass(frozen=True)
class BatchChange:
    """What one batch wrote."""

    batch_id: int
    """The batch."""
    change_bytes: int
    """The size of its deltas or changelogs, compressed, of all partitions."""


@dataclass(frozen=True)
class Growth:
    """How the store changed from the oldest batch that can still be loaded."""

    first_batch: int
    """The oldest batch whose state can still be loaded."""
    first_keys: int
    """The rows at that batch."""
    last_keys: int
    """The rows at the batch that is shown."""
    changes: tuple[BatchChange, ...]
    """What each batch since then wrote; empty where each wrote a whole snapshot."""


@dataclass(frozen=True)
class StateSummary:
    """The whole store in numbers."""

    keys: int
    """Rows as they are shown: keys, elements of lists, entries of maps."""
    row_bytes: int
    """Their size, decoded."""
    file_bytes: int
    """The size of all files of the store's partitions that are kept, of every batch."""
    partitions: tuple[PartitionSummary, ...]
    """Those that were read, empty ones as well."""
    skew: float | None
    """Keys of the largest partition by those of an average one; None where there are none."""
    event_time: EventTimes | None
    """None where no column is known to hold the event time."""
    next_watermark_ms: int | None
    """The watermark of the batch after the one that is shown; None where there is none yet."""
    dropped_next: int | None
    """Rows that the next batch drops if it uses that watermark; None if unknown."""
    dropped_next_note: str
    """Why it is unknown, or what it depends on."""
    growth: Growth | None
    """None if only a part of the store was requested, or no older batch can be loaded."""


@dataclass(frozen=True)
class WrittenFile:
    """The file that the rows were written to."""

    path: str
    """Where it is."""
    format: str
    """parquet, csv or jsonl."""
    rows: int
    """How many rows it holds."""
    size_bytes: int
    """Its size."""


@dataclass(frozen=True, repr=False)
class StateRows(OneLine):
    """Rows of one store at one batch."""

    SHOWN: ClassVar = ("operator", "store", "batch_id", "rows", "total")
    COMMAND: ClassVar = "state"

    operator: int
    """The id of the operator."""
    operator_name: str | None
    """What Spark calls it; None where nothing recorded it."""
    store: str
    """The store, column family or state variable."""
    stores: tuple[str, ...]
    """The names that this operator can be asked for."""
    batch_id: int
    """The batch whose state this is."""
    version: int
    """The version of the state: batch b writes b + 1."""
    partitions: tuple[int, ...]
    """The partitions that were read."""
    columns: tuple[StateColumn, ...]
    """Every column of the rows, those inside of structs by their full names."""
    rows: tuple[StateRow, ...]
    """The rows, up to the limit; none where they were written to a file or summed up."""
    total: int | None
    """How many rows fit; None where reading ended before all were counted."""
    complete: bool
    """Whether every row that fits is shown here, in the file, or counted in the summary."""
    output: WrittenFile | None = None
    """The file that was written; None if none was requested."""
    summary: StateSummary | None = None
    """The store in numbers; None where it was not asked for."""
