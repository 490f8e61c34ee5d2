"""The table that rows go to, and whether it takes them; in the words of every database."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink


@dataclass(frozen=True)
class Spelling:
    """How one database spells names and values in a statement."""

    quote: str
    """What stands around a name; empty where there is no such thing."""
    folding: str
    """What becomes of a name without quotes: `upper`, `lower`, or nothing."""
    placeholder: str = "?"
    """What stands for a value."""
    exact: bool = False
    """Capital letters tell two columns apart; otherwise a name is found whatever its letters."""

    def folded(self, name: str) -> str:
        """Return a plain name as the database keeps it."""
        if self.folding == "upper":
            return name.upper()
        return name.lower() if self.folding == "lower" else name

    def quoted(self, *parts: str | None) -> str:
        """Spell a name of one or more parts for a statement; None is left out."""
        there = [part for part in parts if part is not None]
        doubled = self.quote * 2
        spelled = ".".join(
            f"{self.quote}{part.replace(self.quote, doubled) if self.quote else part}{self.quote}"
            for part in there
        )
        # Whoever finds values by a per cent sign looks for them in names as well.
        return spelled.replace("%", "%%") if "%" in self.placeholder else spelled

    def own(self, name: str) -> str:
        """Spell a name of ours for a statement."""
        return self.quoted(self.folded(name))


@dataclass(frozen=True, kw_only=True)
class WrittenColumn:
    """A column of the rows as the database gets it."""

    name: str
    kind: str
    """Its type as Spark spells it: `decimal(20,3)`."""
    made: str
    """The type in a table that is created on demand."""
    staged: str
    """The type in staging."""
    staged_name: str
    """The name in staging."""
    zone: str | None = None
    """Moments are written as what the clock on the wall shows in this time zone."""


@dataclass(frozen=True, kw_only=True)
class TableColumn:
    """A column of a table that exists."""

    name: str
    type: str
    """Its type as the database calls it."""
    not_null: bool = False
    has_default: bool = False
    is_generated: bool = False
    code: int = 0
    """Its type by `java.sql.Types`; this and the next two only where a JDBC driver is asked."""
    digits: int = 0
    scale: int = 0


@dataclass(frozen=True)
class WrittenTable:
    """The table that rows go to, whether it exists yet or not."""

    spelling: Spelling
    schema: str | None
    """The schema, or the catalogue where the database has no schemas."""
    name: str
    columns: tuple[TableColumn, ...] | None = None
    """None where there is no table yet, or nobody has looked."""
    incarnation: str | None = None
    """What identifies the table: another one in its place has another. None without a table."""

    @property
    def spelled(self) -> str:
        """The table's name for a statement."""
        return self.spelling.quoted(self.schema, self.name)

    @property
    def qualified(self) -> str:
        """The table's whole name, as shown to people."""
        return ".".join(part for part in (self.schema, self.name) if part)

    def beside(self, name: str) -> str:
        """Spell the name of a table of ours in the same schema."""
        return self.spelling.quoted(self.schema, self.spelling.folded(name))

    def find_column(self, name: str) -> TableColumn | None:
        """Return the column of this name: exact, else whatever its capital letters."""
        columns = self.columns or ()
        exact = [one for one in columns if one.name == name]
        if exact or self.spelling.exact:
            return exact[0] if exact else None
        alike = [one for one in columns if one.name.lower() == name.lower()]
        return alike[0] if len(alike) == 1 else None

    def column(self, name: str) -> str:
        """Spell a column's name for a statement, as the table has it."""
        there = self.find_column(name)
        return self.spelling.quoted(name if there is None else there.name)


@dataclass(frozen=True)
class FitRules:
    """What one database accepts."""

    accepts: Callable[[TableColumn, WrittenColumn], bool]
    """Whether a column takes every value of the rows as it is."""
    shown_type: Callable[[TableColumn], str]
    upsert_replaces_rows: bool
    """An upsert deletes the old row: a column that the rows do not have would be emptied."""


def check_fit(
    columns: Sequence[WrittenColumn], table: WrittenTable, rules: FitRules, sink: ReadySink
) -> None:
    """Refuse rows whose columns are not the table's; the batch column is one of them."""
    empties = rules.upsert_replaces_rows and sink.mode == "upsert"
    reasons = [*_differences(columns, table, rules), *_lacking(columns, table, empties=empties)]
    if reasons:
        message = f"the rows do not fit {table.name}: {'; '.join(reasons)}"
        step = "let the transform give the columns that the table has, or alter the table"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))


def _differences(
    columns: Sequence[WrittenColumn], table: WrittenTable, rules: FitRules
) -> Iterator[str]:
    for column in columns:
        there = table.find_column(column.name)
        if there is None:
            yield f"the table has no column {column.name}{_alike(column.name, table)}"
        elif there.is_generated:
            yield f"{there.name} is generated by the table itself"
        elif not rules.accepts(there, column):
            shown = rules.shown_type(there)
            yield f"{there.name} is {shown} in the table, the rows need {column.made}"


def _alike(name: str, table: WrittenTable) -> str:
    if not table.spelling.exact:
        return ""
    alike = [one.name for one in table.columns or () if one.name.lower() == name.lower()]
    return f" (it has {alike[0]}: names are case-sensitive)" if alike else ""


def _lacking(
    columns: Sequence[WrittenColumn], table: WrittenTable, *, empties: bool
) -> Iterator[str]:
    given = {table.column(one.name) for one in columns}
    for there in table.columns or ():
        if table.spelling.quoted(there.name) in given or there.is_generated:
            continue
        if empties:
            yield f"the rows have no column {there.name}, which an upsert would empty"
        elif there.not_null and not there.has_default:
            yield f"the rows have no column {there.name}, which cannot be null"
