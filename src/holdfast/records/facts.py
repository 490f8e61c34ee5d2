"""What a query is, as far as a restart depends on it: read from Spark's plan, kept with every run.

Expressions are in a normal form over the columns of the sources, so that renamed variables, moved
code or reformatted SQL do not change them, and another function, column, constant or order does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from holdfast.records.documents import document_of, encode_document

FACTS_VERSION = 3
"""Raised when the normal form changes: facts of different versions are not compared."""
UNLOCATED = "unlocated"
"""Stands for the digest of code that was found in no file: nothing shows whether it changed."""
CONSTANT = "constant:"
"""How the digest of a global constant begins whose value is in the digest of the code that uses it:
its name decides nothing."""
REACH = "reach:"
"""How the digest of all begins that a function reaches, with what each name in it stands for; facts
that were recorded without one are compared without it. After it the digest of each form, the oldest
first: two records are compared by the newest form that both have."""
_NEXT_FORM = "+"
CUT = "… sha256:"
"""What stands in a text that was too long, before the digest of the whole."""


@dataclass(frozen=True)
class ColumnFacts:
    """One column of a source, of a state store or of the output."""

    name: str
    type: str
    """Spark's short spelling of the type, such as `struct<a:int>`."""
    nullable: bool = True


@dataclass(frozen=True)
class SourceFacts:
    """One streaming source, in the order in which Spark numbers them."""

    kind: str
    """As a checkpoint names it, such as `file` or `kafka`; `unknown` where nothing known does."""
    format: str
    """The format that the user named, such as `json`."""
    identity: Mapping[str, str]
    """What is read: path, topics or table, by the name of the option."""
    columns: tuple[ColumnFacts, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)
    """Other options that the user gave; secrets as digests."""
    name: str | None = None
    """The user's name of it; None where there is none."""
    same_reader: int | None = None
    """The number of the earlier source that is the same reader, used once more; None for its own:
    Spark counts both and keeps one log of what they read."""


@dataclass(frozen=True)
class StoreFacts:
    """One state store of an operator, with the schemas that Spark would write for it."""

    name: str
    keys: tuple[ColumnFacts, ...] = ()
    values: tuple[ColumnFacts, ...] = ()


@dataclass(frozen=True)
class OperatorFacts:
    """One stateful operator, in the order of the ids that Spark gives them."""

    operator_id: int
    name: str
    """As its metadata in a checkpoint spells it, such as `stateStoreSave`."""
    keys: tuple[str, ...] = ()
    """What the state is grouped by: normal forms, in order; of a join the left keys, then the
    right keys."""
    values: tuple[str, ...] = ()
    """What is kept per key: of an aggregation the functions in the order of their buffers."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """What else decides its result, such as `join type`, `condition`, `time mode`, `limit`."""
    stores: tuple[StoreFacts, ...] = ()
    input: tuple[str, ...] = ()
    """Which rows reach it: one line per filter, join, generator or source below it."""
    functions: tuple[str, ...] = ()
    """Names of the Python functions that it calls itself."""


@dataclass(frozen=True)
class WatermarkFacts:
    """One watermark, in the order of the plan."""

    column: str
    """Normal form of the event time column."""
    delay_ms: int
    rows: tuple[str, ...] = ()
    """Which rows it is computed from, as `OperatorFacts.input`, without filters that Spark moves
    below it."""


@dataclass(frozen=True)
class FunctionFacts:
    """One Python function that the query calls, with everything that it reaches."""

    name: str
    """`module:qualified name`."""
    kind: str
    """`transform`, `udf`, `pandas`, `state`, `source` or `sink`."""
    parts: Mapping[str, str] = field(default_factory=dict)
    """Digest of each piece of code, constant or default that it reaches, by name; itself too.
    One that begins with `constant:` is there to be shown: the code has its value."""
    unfollowed: tuple[str, ...] = ()
    """What it reaches that cannot be compared, in words."""
    place: str | None = None
    """File and line; no part of the fingerprint."""


@dataclass(frozen=True)
class StaticFacts:
    """A table that is no stream and is joined in or read beside one."""

    name: str
    content: str | None
    """What identifies its content, such as a table version or a digest of its files; None where
    that is not known."""


@dataclass(frozen=True)
class QueryFacts:
    """Everything about a query that decides whether it may continue from a checkpoint."""

    version: int
    spark: str
    output_mode: str
    sources: tuple[SourceFacts, ...] = ()
    operators: tuple[OperatorFacts, ...] | None = ()
    """None where Spark would not plan the query."""
    watermarks: tuple[WatermarkFacts, ...] = ()
    functions: tuple[FunctionFacts, ...] = ()
    statics: tuple[StaticFacts, ...] = ()
    steps: tuple[str, ...] = ()
    """Filters and projections that keep no state, above the last stateful operator: normal
    forms."""
    output: tuple[ColumnFacts, ...] = ()
    """The columns that reach the sink."""
    settings: Mapping[str, str] = field(default_factory=dict)
    """Settings that Spark pins, or that change what expressions mean."""
    unknown: tuple[str, ...] = ()
    """What could not be determined, in words."""
    code: Mapping[str, str] = field(default_factory=dict)
    """Digests of the files and of the SQL text that the query is made of: where something could
    not be determined, they show whether it may have changed. No part of the fingerprint."""


def reach_text(digests: Sequence[str]) -> str:
    """Return digests of all that a function reaches, one of each form, as a record has them."""
    return f"{REACH}{_NEXT_FORM.join(digests)}"


def reach_forms(function: FunctionFacts) -> tuple[str, ...]:
    """Return the digests of all that a function reaches; none where the record has none."""
    found = [one for one in function.parts.values() if one.startswith(REACH)]
    return tuple(one for text in found for one in text.removeprefix(REACH).split(_NEXT_FORM))


def fingerprint(facts: QueryFacts) -> str:
    """Return the digest of a query's facts: equal for queries that do the same with the same."""
    functions = tuple(replace(one, place=None) for one in facts.functions)
    document = document_of(replace(facts, functions=functions, code={}))
    return hashlib.sha256(encode_document(document)).hexdigest()
