"""What a question about state may say: a key, and how much is read, shown and kept."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

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
