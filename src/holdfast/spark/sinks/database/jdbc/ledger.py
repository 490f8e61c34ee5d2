"""Keeps the row of each batch in the database that it was written to, with plain SQL alone.

The table is the one that the postgres sink keeps. All of it happens inside the transaction that
moves the batch's rows. Rows are locked by an UPDATE that changes nothing: every database has that.
Locks are taken in one order: the row of the whole table, the row of a query, the written table.
Drivers lock the first of them only as long as their query has no row yet.
"""

from __future__ import annotations

from typing import Any

from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.database.postgres import LEDGER
from holdfast.ledgers.heldoffsets import NOT_HELD, UNKNOWN, HeldOffsets, held_with
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database.heldbatch import HeldBatch
from holdfast.spark.sinks.database.jdbc.connection import JdbcConnection, JdbcDatabase
from holdfast.spark.sinks.database.jdbc.failure import JdbcFailure
from holdfast.spark.sinks.database.jdbc.table import Target, create_table, tables_like
from holdfast.spark.sinks.database.jdbc.types import moment_type, number_type
from holdfast.spark.sinks.database.ledgerstate import (
    RESERVED_BATCH,
    WHOLE_TABLE,
    Judge,
    QueryState,
    Seen,
    TableState,
    is_pruning_due,
    reserved_name,
    state_of,
    state_of_older_ledger,
    table_state_of,
)

KEPT_BATCHES = 10_000
"""Batches of a query that are remembered one by one, and a few more; older ones are counted."""
LOCK_SECONDS = 60
"""How long another driver's transaction is waited for."""

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
_KEY = "{table_name} = ? and {query_id} = ? and {batch_id} = ?"
_SEEN = f"""
select 'state', {_FOUND} where {_KEY}
union all select 'table', {_FOUND} where {_KEY}
union all select 'same', {_FOUND} where {_KEY}
union all select 'newest', {_FOUND} where {{table_name}} = ? and {{query_id}} = ?
and {{batch_id}} = (select max({{batch_id}}) from {{ledger}}
                    where {{table_name}} = ? and {{query_id}} = ? and {{batch_id}} >= 0)
"""
_NO_BATCH = -2


class JdbcLedger:
    """The ledger of one written table, as one driver knows it."""

    def __init__(self, target: Target, shown: str) -> None:
        self._target = target
        self._judge = Judge(shown)
        self._opened: TableState | None = None
        """The table when this driver first asked; one that was cleared since is not its own."""
        self._made = False
        self._spelling = {name: target.names.own(name) for name in _COLUMNS}
        self._spelling["ledger"] = target.beside(LEDGER)

    def exists(self, connection: JdbcConnection) -> bool:
        """Tell whether there is a ledger."""
        name, names = self._target.name, self._target.names
        return any(tables_like(connection, name.qualifier, names.folded(LEDGER)))

    def create(self, connection: JdbcConnection, database: JdbcDatabase, sink: ReadySink) -> None:
        """Make the ledger where there is none, and in it what drivers of new queries lock."""
        if self._made and self.exists(connection):
            return
        if not self.exists(connection):
            self._create(connection, database, sink)
        if not self._batch_rows(connection, *self._reserved_key(WHOLE_TABLE)):
            try:
                self._insert(connection, WHOLE_TABLE, 0, TableState().text, 0)
            except JdbcFailure as failure:
                if not failure.duplicate:
                    raise
        self._made = True

    def open(self, connection: JdbcConnection) -> TableState:
        """Remember what the table is when a driver begins with it; a ledger may be missing."""
        found = self._table_state(connection) if self.exists(connection) else TableState()
        self._opened = self._opened or found
        return found

    def held(
        self, connection: JdbcConnection, identity: BatchIdentity, *, lock: bool = False
    ) -> HeldBatch | None:
        """Give the batch where it is held; raise where it must not be written.

        `lock` makes every other driver of this query wait, and whoever takes batches back; what
        they committed meanwhile is seen, because it is asked after the lock was given.
        """
        if lock:
            self._lock(connection, identity.query_id)
        seen = self._seen(connection, identity.query_id, identity.batch_id)
        held = self._judge.held(seen, identity)
        self._opened = self._opened or seen.table
        self._judge.refuse_cleared(self._opened, seen.table)
        return held

    def claim(self, connection: JdbcConnection, identity: BatchIdentity) -> None:
        """Write the batch's row; a JdbcFailure is `duplicate` where another driver did it first."""
        self._execute(
            connection,
            "insert into {ledger} ({table_name}, {query_id}, {batch_id}, {offsets_digest}, "
            "{generation}, {rows}, {committed_at}) values (?, ?, ?, ?, ?, 0, current_timestamp)",
            identity.query_id,
            identity.batch_id,
            identity.offsets_digest,
            identity.generation,
            seconds=LOCK_SECONDS,
        )

    def count(self, connection: JdbcConnection, identity: BatchIdentity, rows: int) -> None:
        """Keep how many rows the claimed batch has; forget what is very old."""
        statement = (
            f"update {{ledger}} set {{rows}} = {int(rows)} "
            "where {table_name} = ? and {query_id} = ? and {batch_id} = ?"
        )
        self._execute(connection, statement, identity.query_id, identity.batch_id)
        if is_pruning_due(identity.batch_id, KEPT_BATCHES):
            self._prune(connection, identity.query_id, identity.batch_id - KEPT_BATCHES)

    def close_to_others(self, connection: JdbcConnection) -> None:
        """Let no batch be committed to the table until the transaction ends."""
        self._touched(connection, WHOLE_TABLE)
        statement = "update {ledger} set {generation} = {generation} where {table_name} = ?"
        for name in (reserved_name(self._table), self._table):
            connection.execute(statement.format(**self._spelling), name, seconds=LOCK_SECONDS)

    def state(self, connection: JdbcConnection, query_id: str, generation: int) -> QueryState:
        """Give what is known of a query; raise HF5042 where a newer generation has been here."""
        seen = self._seen(connection, query_id, _NO_BATCH)
        self._judge.refuse_older(seen, generation)
        return seen.state

    def generation(self, connection: JdbcConnection, query_id: str) -> int:
        """Return the greatest generation that is known of a query, 0 where none is."""
        return self._seen(connection, query_id, _NO_BATCH).generation

    def delivered_rows(
        self, connection: JdbcConnection, query_id: str, *, newest_only: bool
    ) -> bool:
        """Return whether a batch of the query brought rows; `newest_only` asks for the last one."""
        seen = self._seen(connection, query_id, _NO_BATCH)
        known = seen.delivered_rows(newest_only=newest_only)
        if known is not None:
            return known
        statement = (
            "select max({rows}) from {ledger} "
            "where {table_name} = ? and {query_id} = ? and {batch_id} >= 0"
        )
        ((most,),) = self._rows(connection, statement, query_id)
        return most is not None and int(most) > 0

    def fence(
        self, connection: JdbcConnection, query_id: str, state: QueryState, generation: int
    ) -> None:
        """Refuse from now on every older generation; `state` is what becomes of the query's row."""
        fenced = max(state.fence, generation)
        self._keep(connection, query_id, fenced, state.text, state.pruned_rows)

    def count_clear(self, connection: JdbcConnection) -> None:
        """Refuse from now on every driver that opened the table before; forget its time zone."""
        cleared = TableState(self._table_state(connection).clears + 1)
        self._keep(connection, WHOLE_TABLE, cleared.clears, cleared.text, 0)
        self._opened = cleared

    def keep_zone(self, connection: JdbcConnection, zone: str) -> str:
        """Keep the time zone of the table unless one is kept already; give the one that is."""
        with connection.transaction():
            self._touched(connection, WHOLE_TABLE)
            found = self._table_state(connection)
            if found.zone is None:
                self._keep(connection, WHOLE_TABLE, found.clears, zone, 0)
            return found.zone or zone

    def newest(self, connection: JdbcConnection, query_id: str) -> HeldBatch | None:
        """Give the newest batch of a query."""
        statement = (
            "select max({batch_id}) from {ledger} "
            "where {table_name} = ? and {query_id} = ? and {batch_id} >= 0"
        )
        ((number,),) = self._rows(connection, statement, query_id)
        return None if number is None else self._batch(connection, query_id, int(number))

    def offsets_of(self, connection: JdbcConnection, query_id: str, batch_id: int) -> HeldOffsets:
        """Return what is kept of one batch."""
        newest = self.newest(connection, query_id)
        if newest is None or newest.batch_id < batch_id:
            return NOT_HELD
        found = self._batch(connection, query_id, batch_id)
        return UNKNOWN if found is None else held_with(found.offsets_digest)

    def queries(self, connection: JdbcConnection) -> frozenset[str]:
        """Name the queries whose batches the table took."""
        statement = (
            "select distinct {query_id} from {ledger} where {table_name} = ? and {batch_id} >= 0"
        )
        return frozenset(str(row[0]) for row in self._rows(connection, statement))

    def rows_by_batch(self, connection: JdbcConnection) -> dict[int, int]:
        """Give how many rows each remembered batch brought; for a table of one query."""
        statement = (
            "select {batch_id}, {rows} from {ledger} where {table_name} = ? and {batch_id} >= 0"
        )
        return {int(batch): int(rows) for batch, rows in self._rows(connection, statement)}

    def forget_after(self, connection: JdbcConnection, batch_id: int) -> None:
        """Forget the batches after this one; -1 forgets all of the table."""
        statement = (
            "delete from {ledger} where {table_name} = ? and {batch_id} >= 0 and {batch_id} > ?"
        )
        self._execute(connection, statement, batch_id)

    @property
    def _table(self) -> str:
        return self._target.name.table

    def _create(self, connection: JdbcConnection, database: JdbcDatabase, sink: ReadySink) -> None:
        number, moment = number_type(database), moment_type(database)
        parts = (
            "{table_name} varchar(255) not null",
            "{query_id} varchar(128) not null",
            f"{{batch_id}} {number} not null",
            "{offsets_digest} varchar(128) not null",
            f"{{generation}} {number} not null",
            f"{{rows}} {number} not null",
            f"{{committed_at}} {moment} default current_timestamp not null",
            "primary key ({table_name}, {query_id}, {batch_id})",
        )
        name = self._target.names.folded(LEDGER)
        spelled = [part.format(**self._spelling) for part in parts]
        create_table(connection, self._target, name, spelled, sink)

    def _seen(self, connection: JdbcConnection, query_id: str, batch_id: int) -> Seen:
        values = (
            *self._reserved_key(query_id),
            *self._reserved_key(WHOLE_TABLE),
            *(self._table, query_id, batch_id),
            *(self._table, query_id) * 2,
        )
        found = connection.rows(_SEEN.format(**self._spelling), *values)
        rows = {str(row[0]).strip(): row[1:] for row in found}
        newest, same = (
            _held(*rows[which]) if which in rows else None for which in ("newest", "same")
        )
        table = TableState()
        if "table" in rows:
            table = table_state_of(int(rows["table"][1]), str(rows["table"][2]))
        if "state" in rows:
            _, generation, text, counted = rows["state"]
            return Seen(state_of(int(generation), str(text), int(counted)), table, newest, same)
        return Seen(self._older_state(connection, query_id), table, newest, same)

    def _older_state(self, connection: JdbcConnection, query_id: str) -> QueryState:
        """Give the state of a query that has no row for it yet."""
        statement = (
            "select min({batch_id}), max({batch_id}) from {ledger} "
            "where {table_name} = ? and {query_id} = ? and {batch_id} >= 0"
        )
        ((oldest, newest),) = self._rows(connection, statement, query_id)
        if oldest is None:
            return QueryState()
        return state_of_older_ledger(int(oldest), int(newest), KEPT_BATCHES)

    def _table_state(self, connection: JdbcConnection) -> TableState:
        for _, generation, text, _ in self._batch_rows(
            connection, *self._reserved_key(WHOLE_TABLE)
        ):
            return table_state_of(int(generation), str(text))
        return TableState()

    def _lock(self, connection: JdbcConnection, query_id: str) -> None:
        """Lock the row of a query; where there is none, that of the whole table, and write one."""
        if self._touched(connection, query_id):
            return
        self._touched(connection, WHOLE_TABLE)
        if self._touched(connection, query_id):
            return
        try:
            text = self._older_state(connection, query_id).text
            self._insert(connection, query_id, 0, text, 0)
        except JdbcFailure as failure:
            # Another driver's row came first: asked again, the ledger tells which.
            raise failure.as_contended() if failure.duplicate else failure from failure

    def _touched(self, connection: JdbcConnection, query_id: str) -> bool:
        statement = f"update {{ledger}} set {{generation}} = {{generation}} where {_KEY}"
        text, key = statement.format(**self._spelling), self._reserved_key(query_id)
        return connection.execute(text, *key, seconds=LOCK_SECONDS) == 1

    def _keep(
        self, connection: JdbcConnection, query_id: str, number: int, text: str, rows: int
    ) -> None:
        """Write a row that is no batch; the transaction holds its lock."""
        statement = (
            "update {ledger} set {generation} = ?, {offsets_digest} = ?, {rows} = ?, "
            f"{{committed_at}} = current_timestamp where {_KEY}"
        )
        values = (number, text, rows, *self._reserved_key(query_id))
        if connection.execute(statement.format(**self._spelling), *values) == 0:
            self._insert(connection, query_id, number, text, rows)

    def _insert(
        self, connection: JdbcConnection, query_id: str, number: int, text: str, rows: int
    ) -> None:
        statement = (
            "insert into {ledger} ({table_name}, {query_id}, {batch_id}, {generation}, "
            "{offsets_digest}, {rows}, {committed_at}) "
            "values (?, ?, ?, ?, ?, ?, current_timestamp)"
        )
        values = (*self._reserved_key(query_id), number, text, rows)
        connection.execute(statement.format(**self._spelling), *values, seconds=LOCK_SECONDS)

    def _prune(self, connection: JdbcConnection, query_id: str, through: int) -> None:
        """Remove the rows of old batches, and keep how many rows they had brought."""
        state = self._seen(connection, query_id, _NO_BATCH).state
        old = (
            "from {ledger} where {table_name} = ? and {query_id} = ? "
            "and {batch_id} > ? and {batch_id} <= ?"
        )
        values = (query_id, state.pruned_through, through)
        found = self._rows(
            connection, f"select sum({{rows}}), min({{batch_id}}), max({{batch_id}}) {old}", *values
        )
        ((rows, oldest, newest),) = found
        if oldest is None:
            return
        self._execute(connection, f"delete {old}", *values)
        after = state.pruned(int(rows), int(oldest), int(newest))
        self._keep(connection, query_id, after.fence, after.text, after.pruned_rows)

    def _reserved_key(self, query_id: str) -> tuple[str, str, int]:
        return reserved_name(self._table), query_id, RESERVED_BATCH

    def _batch(self, connection: JdbcConnection, query_id: str, batch_id: int) -> HeldBatch | None:
        found = self._batch_rows(connection, self._table, query_id, batch_id)
        return _held(*found[0]) if found else None

    def _batch_rows(
        self, connection: JdbcConnection, table: str, query_id: str, batch_id: int
    ) -> list[tuple[Any, ...]]:
        statement = f"select {_FOUND} where {_KEY}".format(**self._spelling)
        return connection.rows(statement, table, query_id, batch_id)

    def _execute(
        self, connection: JdbcConnection, statement: str, *values: str | int, seconds: int = 0
    ) -> int:
        text = statement.format(**self._spelling)
        return connection.execute(text, self._table, *values, seconds=seconds)

    def _rows(
        self, connection: JdbcConnection, statement: str, *values: str | int
    ) -> list[tuple[Any, ...]]:
        text = statement.format(**self._spelling)
        return connection.rows(text, self._table, *values)


def _held(number: Any, generation: Any, digest: Any, rows: Any) -> HeldBatch:
    return HeldBatch(int(number), int(generation), str(digest), int(rows))
