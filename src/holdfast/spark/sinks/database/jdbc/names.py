"""Spells names as a database takes them: folded where they are plain, quoted always."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from holdfast.errors import SinkError

_PART = r'("(?:[^"]|"")+"|`(?:[^`]|``)+`|[^\W\d][\w$#]*)'
_TABLE = re.compile(rf"(?:{_PART}\.)?{_PART}")


@dataclass(frozen=True)
class Names:
    """How one database spells names, by its driver's word."""

    quote: str
    """What stands around a name; empty where there is no such thing."""
    folding: str
    """What becomes of a name without quotes: `upper`, `lower`, or nothing."""

    def folded(self, name: str) -> str:
        """Give a plain name as the database keeps it."""
        if self.folding == "upper":
            return name.upper()
        return name.lower() if self.folding == "lower" else name

    def quoted(self, *parts: str | None) -> str:
        """Spell a name of one or more parts for a statement; None is left out."""
        there = [part for part in parts if part is not None]
        doubled = self.quote * 2
        return ".".join(
            f"{self.quote}{part.replace(self.quote, doubled) if self.quote else part}{self.quote}"
            for part in there
        )

    def own(self, name: str) -> str:
        """Spell a name of ours for a statement."""
        return self.quoted(self.folded(name))


@dataclass(frozen=True)
class TableName:
    """A table as it is declared, as the database keeps it."""

    qualifier: str | None
    """The schema, or the catalogue where the database has no schemas."""
    table: str


def names_of(metadata: Any) -> Names:
    """Give how this database spells names; `metadata` is the driver's."""
    folding = ""
    if metadata.storesUpperCaseIdentifiers():
        folding = "upper"
    elif metadata.storesLowerCaseIdentifiers():
        folding = "lower"
    return Names(str(metadata.getIdentifierQuoteString()).strip(), folding)


def check_table_name(table: str, at: str | None) -> None:
    """Refuse what is no name of a table."""
    if _TABLE.fullmatch(table) is None:
        message = f"{table} is no name of a table"
        step = 'write `table`, `schema.table`, or `schema."Any Name"`'
        raise SinkError("HF5002", message, at=at, next_steps=(step,))


def table_name(table: str, names: Names) -> TableName:
    """Give a checked name in its parts; as in SQL, only what is quoted keeps its letters."""
    match = _TABLE.fullmatch(table)
    parts = [] if match is None else [_kept(one, names) for one in match.groups() if one]
    return TableName(parts[0] if len(parts) > 1 else None, parts[-1])


def _kept(part: str, names: Names) -> str:
    mark = part[0]
    return part[1:-1].replace(mark * 2, mark) if mark in '"`' else names.folded(part)
