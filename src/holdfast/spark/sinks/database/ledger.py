"""Keeps the row of each batch in the database that it was written to: claims, refuses, takes back.

All of it happens inside the transaction that moves the batch's rows. Rows are locked by an UPDATE
that changes nothing: every database has that. Locks are taken in one order: the ledger as a whole,
the row of a query, the written table. Where no statement locks the ledger as a whole, the row of
the whole table stands for it, and drivers lock it only as long as their query has no row yet.
"""

from __future__ import annotations

from typing import Any

from holdfast.ledgers.database.postgres import LEDGER
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.sinkstate import NOT_COMMITTED, UNKNOWN, CommittedOffsets, committed_with
from holdfast.spark.sinks.database.dialect import (
    LOCK_SECONDS,
    DatabaseConnection,
    DatabaseFailure,
    Dialect,
)
from holdfast.spark.sinks.database.ledgerstate import (
    RESERVED_BATCH,
    WHOLE_TABLE,
    CommittedBatch,
    LedgerJudge,
    LedgerView,
    QueryState,
    TableState,
    is_pruning_due,
    reserved_name,
    state_of,
    state_of_older_ledger,
    table_state_of,
)
from holdfast.spark.sinks.database.table import WrittenTable

KEPT_BATCHES = 10_000
"""Batches of a query that are remembered one by one, and a few more; older ones are counted."""

_COLUMNS = (
    "table_name",
    "query_id",
    "batch_id",
    "offsets_digest",
    "generation",
    "rows",
    "committed_at",
)
_FOUND = "{batch_id}, {generation}, {offsets_digest}, {rows} from {ledger}"
_KEY = "{table_name} = {value} and {query_id} = {value} and {batch_id} = {value}"
_OF_QUERY = "{table_name} = {value} and {query_id} = {value} and {batch_id} >= 0"
_SEEN = f"""
select 'state', {_FOUND} where {_KEY}
union all select 'table', {_FOUND} where {_KEY}
union all select 'same', {_FOUND} where {_KEY}
union all select 'newest', {_FOUND} where {{table_name}} = {{value}} and {{query_id}} = {{value}}
and {{batch_id}} = (select max({{batch_id}}) from {{ledger}} where {_OF_QUERY})
"""
_INSERT = (
    "insert into {ledger} ({table_name}, {query_id}, {batch_id}, {offsets_digest}, {generation}, "
    "{rows}, {committed_at}) values ({value}, {value}, {value}, {value}, {value}, {value}, {now})"
)
_NO_BATCH = -2


class DatabaseLedger:
    """The ledger of one written table, as one driver knows it."""

    def __init__(self, dialect: Dialect, table: WrittenTable) -> None:
        self._dialect = dialect
        self._written = table
        self._table = table.name
        self._judge = LedgerJudge(dialect.shown)
        self._opened: TableState | None = None
        """The table when this driver first asked; one that was cleared since is not its own."""
        self._created = False
        self._delivered: dict[str, int] = {}
        """The newest batch of a query that this driver delivered or found in the table."""
        self._names = {name: table.spelling.own(name) for name in _COLUMNS}
        self._names["ledger"] = table.beside(LEDGER)
        self._names["value"] = table.spelling.placeholder
        self._names["now"] = dialect.traits.now

    def exists(self, connection: DatabaseConnection) -> bool:
        """Return whether there is a ledger."""
        return connection.has_table(self._written, LEDGER)

    def create(self, connection: DatabaseConnection) -> None:
        """Create the ledger where there is none, and in it what drivers of new queries lock."""
        exists = self.exists(connection)
        if exists and self._created:
            return
        if not exists:
            self._create_table(connection)
        whole = self._reserved_key(WHOLE_TABLE)
        if self._locks_by_rows and not self._found(connection, *whole):
            try:
                self._insert_new(connection, *whole, TableState().text, 0)
            except DatabaseFailure as failure:
                if not failure.duplicate:
                    raise
        self._created = True

    def open(self, connection: DatabaseConnection) -> TableState:
        """Remember what the table is when a driver begins with it; a ledger may be missing."""
        found = self._table_state(connection) if self.exists(connection) else TableState()
        self._opened = self._opened or found
        return found

    def committed(
        self, connection: DatabaseConnection, identity: BatchIdentity, *, lock: bool = False
    ) -> CommittedBatch | None:
        """Return the batch where it is in the table; raise where it must not be written.

        `lock` makes every other driver of this query wait, and whoever takes batches back; what
        they committed meanwhile is seen, because it is asked after the lock was given.
        """
        if lock:
            self._lock(connection, identity.query_id)
        view = self._view(connection, identity.query_id, identity.batch_id)
        found = self._judge.committed(view, identity)
        self._opened = self._opened or view.table
        self._judge.refuse_cleared(self._opened, view.table)
        self._judge.refuse_lost(view, self._delivered.get(identity.query_id))
        return found

    def remember(self, identity: BatchIdentity) -> None:
        """Expect the batch in the ledger from now on: it is committed."""
        known = self._delivered.get(identity.query_id, identity.batch_id)
        self._delivered[identity.query_id] = max(known, identity.batch_id)

    def claim(self, connection: DatabaseConnection, identity: BatchIdentity) -> bool:
        """Write the batch's row; False where another driver's transaction did it first."""
        key = (self._table, identity.query_id, identity.batch_id)
        digest, generation = identity.offsets_digest, identity.generation
        return self._insert_new(connection, *key, digest, generation)

    def count(self, connection: DatabaseConnection, identity: BatchIdentity, rows: int) -> None:
        """Keep how many rows the claimed batch has; forget what is very old."""
        statement = f"update {{ledger}} set {{rows}} = {{value}} where {_KEY}"
        key = (self._table, identity.query_id, identity.batch_id)
        self._execute(connection, statement, rows, *key)
        if is_pruning_due(identity.batch_id, KEPT_BATCHES):
            self._prune(connection, identity.query_id, identity.batch_id - KEPT_BATCHES)

    def close_to_others(self, connection: DatabaseConnection) -> None:
        """Let no batch be committed to the table until the transaction ends."""
        if not self._locks_by_rows:
            connection.execute(self._dialect.traits.lock_table.format(self._names["ledger"]))
            return
        self._lock(connection, WHOLE_TABLE)
        statement = "update {ledger} set {generation} = {generation} where {table_name} = {value}"
        for name in (reserved_name(self._table), self._table):
            self._execute(connection, statement, name, seconds=LOCK_SECONDS)

    def state(self, connection: DatabaseConnection, query_id: str, generation: int) -> QueryState:
        """Return what is known of a query; raise HF5042 where a newer generation has been here."""
        view = self._view(connection, query_id, _NO_BATCH)
        self._judge.refuse_older(view, generation)
        return view.state

    def generation(self, connection: DatabaseConnection, query_id: str) -> int:
        """Return the greatest generation that is known of a query, 0 where none is."""
        return self._view(connection, query_id, _NO_BATCH).generation

    def delivered_rows(
        self, connection: DatabaseConnection, query_id: str, *, newest_only: bool
    ) -> bool:
        """Return whether a batch of the query brought rows; `newest_only` asks for the last one."""
        view = self._view(connection, query_id, _NO_BATCH)
        known = view.delivered_rows(newest_only=newest_only)
        if known is not None:
            return known
        statement = f"select max({{rows}}) from {{ledger}} where {_OF_QUERY}"
        ((most,),) = self._rows(connection, statement, self._table, query_id)
        return most is not None and int(most) > 0

    def fence(
        self, connection: DatabaseConnection, query_id: str, state: QueryState, generation: int
    ) -> None:
        """Refuse from now on every older generation; `state` is what becomes of the query's row."""
        fenced = max(state.fence, generation)
        self._keep(connection, query_id, fenced, state.text, state.pruned_rows)

    def count_clear(self, connection: DatabaseConnection) -> None:
        """Refuse from now on every driver that opened the table before; forget its time zone."""
        cleared = TableState(self._table_state(connection).clears + 1)
        self._keep(connection, WHOLE_TABLE, cleared.clears, cleared.text, 0)
        self._opened = cleared

    def fences(self, connection: DatabaseConnection) -> dict[str, int]:
        """Return the generation below which no driver commits, by query taken back from."""
        statement = (
            "select {query_id}, {generation} from {ledger} where {table_name} = {value} "
            "and {query_id} <> {value} and {batch_id} = {value} and {generation} > 0"
        )
        values = (reserved_name(self._table), WHOLE_TABLE, RESERVED_BATCH)
        found = self._rows(connection, statement, *values)
        return {str(query_id): int(generation) for query_id, generation in found}

    def keep_zone(self, connection: DatabaseConnection, zone: str) -> str:
        """Keep the time zone of the table unless one is kept already; return the one that is."""
        with connection.transaction():
            self._lock(connection, WHOLE_TABLE)
            found = self._table_state(connection)
            if found.zone is None:
                self._keep(connection, WHOLE_TABLE, found.clears, zone, 0)
            return found.zone or zone

    def newest(self, connection: DatabaseConnection, query_id: str) -> CommittedBatch | None:
        """Return the newest batch of a query."""
        statement = f"select max({{batch_id}}) from {{ledger}} where {_OF_QUERY}"
        ((number,),) = self._rows(connection, statement, self._table, query_id)
        return None if number is None else self._batch(connection, query_id, int(number))

    def offsets_of(
        self, connection: DatabaseConnection, query_id: str, batch_id: int
    ) -> CommittedOffsets:
        """Return what is kept of one batch."""
        newest = self.newest(connection, query_id)
        if newest is None or newest.batch_id < batch_id:
            return NOT_COMMITTED
        found = self._batch(connection, query_id, batch_id)
        return UNKNOWN if found is None else committed_with(found.offsets_digest)

    def queries(self, connection: DatabaseConnection) -> frozenset[str]:
        """Name the queries whose batches the table took."""
        statement = (
            "select distinct {query_id} from {ledger} "
            "where {table_name} = {value} and {batch_id} >= 0"
        )
        return frozenset(str(row[0]) for row in self._rows(connection, statement, self._table))

    def rows_by_batch(self, connection: DatabaseConnection) -> dict[int, int]:
        """Return how many rows each remembered batch brought; for a table of one query.

        A batch of one of its backfills counts for the query's batch of that number.
        """
        statement = (
            "select {batch_id}, sum({rows}) from {ledger} "
            "where {table_name} = {value} and {batch_id} >= 0 group by {batch_id}"
        )
        found = self._rows(connection, statement, self._table)
        return {int(batch): int(rows) for batch, rows in found}

    def forget_after(self, connection: DatabaseConnection, batch_id: int) -> None:
        """Forget the batches after this one; -1 forgets all of the table."""
        statement = (
            "delete from {ledger} "
            "where {table_name} = {value} and {batch_id} >= 0 and {batch_id} > {value}"
        )
        self._execute(connection, statement, self._table, batch_id)
        self._delivered.clear()

    @property
    def _locks_by_rows(self) -> bool:
        return not self._dialect.traits.lock_table

    def _create_table(self, connection: DatabaseConnection) -> None:
        types = self._dialect.ledger_types()
        parts = (
            f"{{table_name}} {types.table_name} not null",
            f"{{query_id}} {types.query_id} not null",
            f"{{batch_id}} {types.number} not null",
            f"{{offsets_digest}} {types.offsets_digest} not null",
            f"{{generation}} {types.number} not null",
            f"{{rows}} {types.number} not null",
            f"{{committed_at}} {types.moment} default {{now}} not null",
            "primary key ({table_name}, {query_id}, {batch_id})",
        )
        name = self._written.spelling.folded(LEDGER)
        spelled = [part.format(**self._names) for part in parts]
        connection.create_table(self._written, name, spelled)

    def _view(self, connection: DatabaseConnection, query_id: str, batch_id: int) -> LedgerView:
        values = (
            *self._reserved_key(query_id),
            *self._reserved_key(WHOLE_TABLE),
            *(self._table, query_id, batch_id),
            *(self._table, query_id) * 2,
        )
        found = self._rows(connection, _SEEN, *values)
        rows = {str(row[0]).strip(): row[1:] for row in found}
        newest, same = (
            _batch_from(*rows[which]) if which in rows else None for which in ("newest", "same")
        )
        table = TableState()
        if "table" in rows:
            table = table_state_of(int(rows["table"][1]), str(rows["table"][2]))
        if "state" in rows:
            _, generation, text, total = rows["state"]
            state = state_of(int(generation), str(text), int(total))
        else:
            state = self._older_state(connection, query_id)
        return LedgerView(state, table, newest, same)

    def _older_state(self, connection: DatabaseConnection, query_id: str) -> QueryState:
        """Return the state of a query that has no row for it yet."""
        statement = f"select min({{batch_id}}), max({{batch_id}}) from {{ledger}} where {_OF_QUERY}"
        ((oldest, newest),) = self._rows(connection, statement, self._table, query_id)
        if oldest is None:
            return QueryState()
        return state_of_older_ledger(int(oldest), int(newest), KEPT_BATCHES)

    def _table_state(self, connection: DatabaseConnection) -> TableState:
        key = self._reserved_key(WHOLE_TABLE)
        for _, generation, text, _ in self._found(connection, *key):
            return table_state_of(int(generation), str(text))
        return TableState()

    def _lock(self, connection: DatabaseConnection, query_id: str) -> None:
        """Lock the row of a query; where there is none, write one.

        In PostgreSQL the first UPDATE also waits for whoever closed the ledger to others, whether
        it finds a row or not. Elsewhere the row of the whole table has to be waited for.
        """
        if self._touched(connection, query_id):
            return
        is_query = query_id != WHOLE_TABLE
        if is_query and self._locks_by_rows:
            self._lock(connection, WHOLE_TABLE)
            if self._touched(connection, query_id):
                return
        state = self._older_state(connection, query_id) if is_query else TableState()
        self._insert_new(connection, *self._reserved_key(query_id), state.text, 0)
        self._touched(connection, query_id)

    def _touched(self, connection: DatabaseConnection, query_id: str) -> bool:
        statement = f"update {{ledger}} set {{generation}} = {{generation}} where {_KEY}"
        key = self._reserved_key(query_id)
        return self._execute(connection, statement, *key, seconds=LOCK_SECONDS) == 1

    def _keep(
        self, connection: DatabaseConnection, query_id: str, number: int, text: str, rows: int
    ) -> None:
        """Write a row that is no batch; the transaction holds its lock or the whole ledger."""
        statement = (
            "update {ledger} set {generation} = {value}, {offsets_digest} = {value}, "
            f"{{rows}} = {{value}}, {{committed_at}} = {{now}} where {_KEY}"
        )
        key = self._reserved_key(query_id)
        if self._execute(connection, statement, number, text, rows, *key) == 0:
            self._execute(connection, _INSERT, *key, text, number, rows, seconds=LOCK_SECONDS)

    def _insert_new(self, connection: DatabaseConnection, *values: str | int) -> bool:
        """Insert a row without rows of its own; False where it was there."""
        statement = f"{_INSERT}{self._dialect.traits.unless_duplicate}"
        try:
            return self._execute(connection, statement, *values, 0, seconds=LOCK_SECONDS) == 1
        except DatabaseFailure as failure:
            # Another driver's row came first: asked again, the ledger says which.
            raise failure.as_contended() if failure.duplicate else failure from failure

    def _prune(self, connection: DatabaseConnection, query_id: str, through: int) -> None:
        """Remove the rows of old batches, and keep how many rows they had brought."""
        state = self._view(connection, query_id, _NO_BATCH).state
        if through <= state.pruned_through:
            return
        # The lower bound keeps an index scan away from the entries of rows that are long gone.
        old = (
            "from {ledger} where {table_name} = {value} and {query_id} = {value} "
            "and {batch_id} > {value} and {batch_id} <= {value}"
        )
        values = (self._table, query_id, state.pruned_through, through)
        totals = f"select sum({{rows}}), min({{batch_id}}), max({{batch_id}}) {old}"
        ((rows, oldest, newest),) = self._rows(connection, totals, *values)
        if oldest is None:
            return
        self._execute(connection, f"delete {old}", *values)
        after = state.pruned(int(rows), int(oldest), int(newest))
        self._keep(connection, query_id, after.fence, after.text, after.pruned_rows)

    def _reserved_key(self, query_id: str) -> tuple[str, str, int]:
        return reserved_name(self._table), query_id, RESERVED_BATCH

    def _batch(
        self, connection: DatabaseConnection, query_id: str, batch_id: int
    ) -> CommittedBatch | None:
        found = self._found(connection, self._table, query_id, batch_id)
        return _batch_from(*found[0]) if found else None

    def _found(self, connection: DatabaseConnection, *key: str | int) -> list[tuple[Any, ...]]:
        return self._rows(connection, f"select {_FOUND} where {_KEY}", *key)

    def _execute(
        self, connection: DatabaseConnection, statement: str, *values: str | int, seconds: int = 0
    ) -> int:
        return connection.execute(statement.format(**self._names), *values, seconds=seconds)

    def _rows(
        self, connection: DatabaseConnection, statement: str, *values: str | int
    ) -> list[tuple[Any, ...]]:
        return connection.rows(statement.format(**self._names), *values)


def _batch_from(number: Any, generation: Any, digest: Any, rows: Any) -> CommittedBatch:
    return CommittedBatch(int(number), int(generation), str(digest), int(rows))
