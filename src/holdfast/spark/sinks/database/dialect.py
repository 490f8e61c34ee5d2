"""What the engine needs of a database; one dialect for each way to reach one.

A `Dialect` is one declared table, a `DatabaseConnection` one connection to its database. Statements
are the engine's own, written with the names that a `Spelling` gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.errors import SinkError
from holdfast.ledgers.sinkstate import CommittedOffsets, LastCommitted, SinkState
from holdfast.spark.sinks.database.table import FitRules, WrittenColumn, WrittenTable

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

LOCK_SECONDS = 60
"""How long another driver's transaction is waited for."""


class DatabaseFailure(Exception):  # noqa: N818 - never leaves the sink
    """What a database or its driver raised, in words that may be shown."""

    def __init__(
        self, words: str, *, lost: bool = False, contended: bool = False, duplicate: bool = False
    ) -> None:
        super().__init__(words)
        self.words = words
        self.lost = lost
        """The connection is gone: what became of a commit is unknown."""
        self.contended = contended
        """Other transactions were in the way; tried again it may pass."""
        self.duplicate = duplicate
        """A unique or other constraint was hurt."""

    def as_contended(self) -> DatabaseFailure:
        """Return the same failure as one of other transactions in the way."""
        return DatabaseFailure(self.words, contended=True, duplicate=self.duplicate)


class DatabaseConnection(Protocol):
    """A connection; whatever the database raises is a DatabaseFailure.

    Every statement is a transaction of its own unless one is begun.
    """

    def execute(self, statement: str, *values: str | int, seconds: int = 0) -> int:
        """Execute a statement, and return how many rows it touched.

        `seconds` bound how long it waits for locks where its transaction does not; 0 is for ever.
        """

    def rows(self, statement: str, *values: str | int) -> list[tuple[Any, ...]]:
        """Return what a query finds."""

    def transaction(self) -> AbstractContextManager[None]:
        """Commit everything in the block at its end; take all of it back where it raises.

        What others commit meanwhile is seen, and what is committed is on disk.
        """

    def locate(self) -> WrittenTable:
        """Return the place of the declared table, without looking whether there is one."""

    def find(self, table: WrittenTable) -> WrittenTable:
        """Look for the table; raise SinkError where no table can be made or written there."""

    def incarnation(self, table: WrittenTable) -> str | None:
        """Return what identifies the table that is there now; None where there is none."""

    def has_table(self, table: WrittenTable, name: str) -> bool:
        """Return whether there is a table of ours beside the written one."""

    def tables_beginning(self, table: WrittenTable, beginning: str) -> Iterable[str]:
        """Name the tables of ours beside the written one that begin so, in lower case."""

    def create_table(
        self, table: WrittenTable, name: str, parts: Sequence[str], *, is_staging: bool = False
    ) -> None:
        """Create a table beside the written one, unless another driver did so at this moment.

        `name` is one that the database keeps so; `parts` are its columns and constraints.
        """

    def drop_table(self, table: WrittenTable, name: str) -> bool:
        """Drop a table of ours without waiting long; return whether it is gone, whoever did it."""

    def look(self, table: WrittenTable, last: LastCommitted) -> SinkState:
        """Return what is at the table's place, and whether there is any row."""


class LedgerMemory(Protocol):
    """What is asked of a ledger outside of a batch; never raises."""

    def last_committed(self, query_id: str) -> LastCommitted:
        """Return the newest batch that the table holds of this query."""

    def offsets_of(self, query_id: str, batch_id: int) -> CommittedOffsets:
        """Return what the ledger has of one batch."""

    def queries(self) -> frozenset[str]:
        """Name every query that the ledger knows; empty where it can't be asked."""


@dataclass(frozen=True)
class StagedRows:
    """What the winning attempts loaded."""

    attempts: tuple[int, ...]
    rows: int


@dataclass(frozen=True, kw_only=True)
class LedgerTypes:
    """The types of a ledger's columns."""

    table_name: str
    query_id: str
    offsets_digest: str
    number: str
    moment: str


@dataclass(frozen=True, kw_only=True)
class DialectTraits:
    """What tells one dialect from another, apart from what it does."""

    kind: str
    """The sink's format, and the first part of the names of its crash points."""
    unreachable: str
    """The code of a lost connection."""
    refused: str
    """The code of a statement that was refused."""
    staging_lost: str
    """The code of staged rows that are missing."""
    now: str
    """The moment of a statement."""
    unless_duplicate: str
    """What ends an INSERT that leaves a row with the same key alone; empty where there is none."""
    lock_table: str
    """What lets nobody else write a table until the transaction ends; empty where nothing does."""
    longest_list: int
    """How many numbers a list in a statement has at most."""
    rules: FitRules
    reserved_columns: tuple[str, ...] = ()
    """Names of columns that the rows must not have."""


class Dialect(Protocol):
    """One declared table of one database."""

    traits: DialectTraits
    shown: str
    """Database and table, as shown to people; without secrets."""

    def connected(self) -> AbstractContextManager[DatabaseConnection]:
        """Connect."""

    def settle(self, table: WrittenTable) -> None:
        """Stay with this table: a default schema that changes later must not move it."""

    def memory(self) -> LedgerMemory:
        """Return what the ledger is asked through outside of a batch."""

    def ledger_types(self) -> LedgerTypes:
        """Return the types of a ledger that is created."""

    def columns(self, schema: StructType) -> tuple[WrittenColumn, ...]:
        """Return every column with its type; raise HF5005 for one that has none there."""

    def number_column(self, name: str) -> WrittenColumn:
        """Return a column of whole numbers that the sink fills itself."""

    def fitted(
        self, columns: Sequence[WrittenColumn], table: WrittenTable, zone: Callable[[], str]
    ) -> tuple[WrittenColumn, ...]:
        """Return the columns as they are written to this table; `zone` is asked on demand."""

    def moved(self, value: str, column: WrittenColumn, table: WrittenTable) -> str:
        """Spell what a column of the table is set to; `value` is the one of staging."""

    def on_conflict(
        self, key: Sequence[str], others: Sequence[str], newer: str | None = None
    ) -> str | None:
        """Spell what makes an INSERT an upsert; None where rows of the same key are deleted.

        A row of the table, which is named `held`, stays where its column `newer` is greater.
        """

    def load(
        self, rows: DataFrame, table: WrittenTable, staging: str, columns: Sequence[WrittenColumn]
    ) -> StagedRows:
        """Load the rows into a staging table, all tasks at once."""


def sink_error(failure: DatabaseFailure, dialect: Dialect, at: str | None) -> SinkError:
    """Return a failure as the error of a sink."""
    code, what = dialect.traits.refused, "refused"
    if failure.lost:
        code, what = dialect.traits.unreachable, "is unreachable"
    elif failure.contended:
        code, what = "HF5010", "blocked the batch for too long"
    return SinkError(code, f"{dialect.shown} {what}: {failure.words}", at=at)
