"""Says what a change of a query is: the query before, the query after, and what they read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tests.changes.inputs import FIRST, SECOND, Inputs

Build = Callable[[Any], Any]
"""A function of a `Bench`: it returns a streaming DataFrame."""

ALL = "all"
"""The query keeps state: right is what the new code gives over all input from the start."""
LATER = "later"
"""The query keeps none: rows delivered before stay, later rows are as the new code makes them."""
ABOVE = "above"
"""The change is above all state: rows delivered before stay, later rows are what the new code
gives where it has seen all input."""
AS_BEFORE = "as before"
"""The change must not move the query: right is what the unchanged query goes on to give."""


@dataclass(frozen=True)
class Query:
    """One version of the code, with everything that a deployment of it sets."""

    build: Build
    mode: str = "append"
    keys: tuple[int, ...] = ()
    """Positions of the columns by which the sink replaces rows; none: it appends them."""
    sink: str = "rows"
    """`rows` (a foreachBatch function with a list), or the format of Spark's file sink."""
    path: str = "out"
    partition_by: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    """Options of the writer."""
    settings: Mapping[str, str] = field(default_factory=dict)
    trigger: Mapping[str, Any] = field(default_factory=lambda: {"availableNow": True})
    code: Mapping[str, str] = field(default_factory=dict)
    """The user's own modules, name to text, which can be imported while the query is built."""


@dataclass(frozen=True)
class Pair:
    """One change, by what it starts from and what it comes to."""

    name: str
    how: str
    before: Query
    after: Query
    first: Inputs = field(default_factory=lambda: FIRST)
    second: Inputs = field(default_factory=lambda: SECOND)
    right: str = ALL
    harmless: bool = False
    """The author of the change means to change nothing, and nothing changes."""
    meant: bool = False
    """A person may well want the mixture of old and new that this gives."""
    between: Callable[[Any], None] | None = None
    """What else happens between the two runs, to the folder that it is given."""
    reference: Query | None = None
    """What gives the right answer, where the new code alone does not."""
    whole: Inputs | None = None
    """What the reference reads, where that is not the first and the second input."""
    group: str = ""


def updating(build: Build, keys: int = 1, **others: Any) -> Query:
    """Return a query in update mode, whose sink replaces rows by their first columns."""
    return Query(build, mode="update", keys=tuple(range(keys)), **others)


def grouped(group: str, pairs: Sequence[Pair]) -> tuple[Pair, ...]:
    """Return the pairs with the name of their group in them."""
    return tuple(replace(one, group=group) for one in pairs)
