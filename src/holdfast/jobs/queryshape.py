"""What is certain of a declared query without asking Spark: sources in order, stateful operators.

A query that is more than one plain statement or one plain chain of calls has no certain shape, and
every part of the shape is None by itself: whoever compares a shape with a checkpoint stays silent
there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

AGGREGATION, DEDUPLICATION = "stateStoreSave", "dedupe"
DEDUPLICATION_IN_WATERMARK = "dedupeWithinWatermark"


def words(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


BUFFERS: Mapping[str, frozenset[str]] = {
    "avg": frozenset({"sum", "count"}),
    "count": frozenset({"count"}),
    "max": frozenset({"max"}),
    "mean": frozenset({"sum", "count"}),
    "min": frozenset({"min"}),
    "sum": frozenset({"sum"}),
}
"""The columns in which Spark keeps an aggregate in the state, by the function's name."""

SCALARS = words(
    "abs cast ceil coalesce col column concat concat_ws current_date current_timestamp date "
    "date_format date_trunc expr_id float floor from_json from_unixtime get_json_object hash "
    "hour if ifnull initcap input_file_name instr int length lit lower lpad ltrim md5 minute "
    "month nullif nvl regexp_extract regexp_replace replace round rpad rtrim sha2 split "
    "string struct substr substring timestamp to_date to_json to_timestamp trim "
    "unix_timestamp upper when window year"
)
"""Functions that are known to give one value for one row."""


@dataclass(frozen=True)
class QueryShape:
    """What is certain of a query; None means that it is not."""

    sources: tuple[str, ...] | None = None
    """The declared sources in the order of Spark's plan, where each is used exactly once."""
    operators: tuple[str, ...] | None = None
    """The stateful operators as their metadata names them."""
    keys: frozenset[str] | None = None
    """The columns that the only operator groups by, in small letters."""
    buffers: frozenset[str] | None = None
    """The columns that the aggregates keep in the state."""


UNCERTAIN = QueryShape()


def buffers_of(functions: frozenset[str]) -> frozenset[str] | None:
    """Return what these functions keep in the state; None where one of them is not known."""
    if not functions or not functions <= BUFFERS.keys() | SCALARS:
        return None
    return frozenset(name for one in functions for name in BUFFERS.get(one, ())) or None
