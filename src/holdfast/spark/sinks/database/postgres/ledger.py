"""Keeps the row of each batch in the database that it was written to: claims, refuses, takes back.

All of it happens inside the transaction that moves the batch's rows. Locks are taken in one order:
the ledger as a whole, the query's row in it, the written table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.ledgers.database.connection import execute, psycopg_here
from holdfast.ledgers.database.postgres import LEDGER
from holdfast.ledgers.identity import BatchIdentity
from holdfast.spark.sinks.database.heldbatch import HeldBatch
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

if TYPE_CHECKING:
    import psycopg

KEPT_BATCHES = 10_000
"""Batches of a query that are remembered one by one, and a few more; older ones are counted."""

_CREATE = """
create table if not exists {} (
    table_name text not null,
    query_id text not null,
    batch_id bigint not null,
    offsets_digest text not null,
    generation bigint not null,
    rows bigint not null,
    committed_at timestamp with time zone not null default clock_timestamp(),
    primary key (table_name, query_id, batch_id)
)
"""
_SEEN = """
select 'state', batch_id, generation, offsets_digest, rows from {0}
where table_name = %(reserved)s and query_id = %(query)s and batch_id = %(no_batch)s
union all
select 'table', batch_id, generation, offsets_digest, rows from {0}
where table_name = %(reserved)s and query_id = %(whole)s and batch_id = %(no_batch)s
union all
(select 'newest', batch_id, generation, offsets_digest, rows from {0}
 where table_name = %(table)s and query_id = %(query)s and batch_id >= 0
 order by batch_id desc limit 1)
union all
select 'same', batch_id, generation, offsets_digest, rows from {0}
where table_name = %(table)s and query_id = %(query)s and batch_id = %(batch)s
"""
_ISOLATION = "set transaction isolation level read committed"
# What others committed while we waited for a lock has to be seen.
_SETTINGS = """
select set_config('lock_timeout', case current_setting('lock_timeout') when '0' then '60s'
                  else current_setting('lock_timeout') end, true),
       set_config('synchronous_commit', case current_setting('synchronous_commit')
                  when 'off' then 'on' else current_setting('synchronous_commit') end, true)
"""
# A server that answers before the transaction is on disk may forget it, while Spark does not.
_NO_BATCH = -2


def set_up(connection: psycopg.Connection[Any]) -> None:
    """Let a transaction see what others commit, wait for locks for a minute, and be on disk."""
    connection.execute(_ISOLATION)
    connection.execute(_SETTINGS)


class LedgerTable:
    """The ledger of one written table, as one driver knows it."""

    def __init__(self, schema: str, table: str, shown: str | None) -> None:
        self._name = psycopg_here().sql.Identifier(schema, LEDGER)
        self._table = table
        self._judge = Judge(shown)
        self._opened: TableState | None = None
        """The table when this driver first asked; one that was cleared since is not its own."""

    def create(self, connection: psycopg.Connection[Any]) -> None:
        """Make the ledger where there is none."""
        execute(connection, _CREATE, self._name)

    def open(self, connection: psycopg.Connection[Any]) -> TableState:
        """Remember what the table is when a driver begins with it; a ledger may be missing."""
        try:
            found = self._table_state(connection)
        except psycopg_here().errors.UndefinedTable:
            found = TableState()
        self._opened = self._opened or found
        return found

    def held(
        self, connection: psycopg.Connection[Any], identity: BatchIdentity, *, lock: bool = False
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

    def claim(self, connection: psycopg.Connection[Any], identity: BatchIdentity) -> bool:
        """Write the batch's row; False where another driver's transaction did it first."""
        statement = (
            "insert into {} (table_name, query_id, batch_id, offsets_digest, generation, rows) "
            "values (%s, %s, %s, %s, %s, 0) on conflict do nothing"
        )
        key = (self._table, identity.query_id, identity.batch_id)
        values = (*key, identity.offsets_digest, identity.generation)
        return execute(connection, statement, self._name, values=values).rowcount == 1

    def count(
        self, connection: psycopg.Connection[Any], identity: BatchIdentity, rows: int
    ) -> None:
        """Keep how many rows the claimed batch has; forget what is very old."""
        execute(
            connection,
            "update {} set rows = %s where table_name = %s and query_id = %s and batch_id = %s",
            self._name,
            values=(rows, self._table, identity.query_id, identity.batch_id),
        )
        if is_pruning_due(identity.batch_id, KEPT_BATCHES):
            self._prune(connection, identity.query_id, identity.batch_id - KEPT_BATCHES)

    def close_to_others(self, connection: psycopg.Connection[Any]) -> None:
        """Let no batch be committed to this schema until the transaction ends."""
        execute(connection, "lock table {} in share row exclusive mode", self._name)

    def state(
        self, connection: psycopg.Connection[Any], query_id: str, generation: int
    ) -> QueryState:
        """Give what is known of a query; raise HF5042 where a newer generation has been here."""
        seen = self._seen(connection, query_id, _NO_BATCH)
        self._judge.refuse_older(seen, generation)
        return seen.state

    def generation(self, connection: psycopg.Connection[Any], query_id: str) -> int:
        """Return the greatest generation that is known of a query, 0 where none is."""
        return self._seen(connection, query_id, _NO_BATCH).generation

    def delivered_rows(
        self, connection: psycopg.Connection[Any], query_id: str, *, newest_only: bool
    ) -> bool:
        """Return whether a batch of the query brought rows; `newest_only` asks for the last one."""
        seen = self._seen(connection, query_id, _NO_BATCH)
        known = seen.delivered_rows(newest_only=newest_only)
        if known is not None:
            return known
        statement = (
            "select exists (select from {} where table_name = %s and query_id = %s "
            "and batch_id >= 0 and rows > 0)"
        )
        found = execute(connection, statement, self._name, values=(self._table, query_id))
        return bool((found.fetchone() or (False,))[0])

    def fence(
        self,
        connection: psycopg.Connection[Any],
        query_id: str,
        state: QueryState,
        generation: int,
    ) -> None:
        """Refuse from now on every older generation; `state` is what becomes of the query's row."""
        fenced = max(state.fence, generation)
        self._keep(connection, query_id, fenced, state.text, state.pruned_rows)

    def count_clear(self, connection: psycopg.Connection[Any]) -> None:
        """Refuse from now on every driver that opened the table before; forget its time zone."""
        cleared = TableState(self._table_state(connection).clears + 1)
        self._keep(connection, WHOLE_TABLE, cleared.clears, cleared.text, 0)
        self._opened = cleared

    def fences(self, connection: psycopg.Connection[Any]) -> dict[str, int]:
        """Give the generation below which no driver commits, for each query taken back from."""
        statement = (
            "select query_id, generation from {} "
            "where table_name = %s and query_id <> %s and batch_id = %s and generation > 0"
        )
        values = (reserved_name(self._table), WHOLE_TABLE, RESERVED_BATCH)
        return dict(execute(connection, statement, self._name, values=values).fetchall())

    def keep_zone(self, connection: psycopg.Connection[Any], zone: str) -> str:
        """Keep the time zone of the table unless one is kept already; give the one that is."""
        with connection.transaction():
            set_up(connection)
            self._lock(connection, WHOLE_TABLE)
            found = self._table_state(connection)
            if found.zone is None:
                self._keep(connection, WHOLE_TABLE, found.clears, zone, 0)
            return found.zone or zone

    def queries(self, connection: psycopg.Connection[Any]) -> frozenset[str]:
        """Name the queries whose batches the table took."""
        statement = "select distinct query_id from {} where table_name = %s and batch_id >= 0"
        found = execute(connection, statement, self._name, values=(self._table,))
        return frozenset(row[0] for row in found)

    def rows_by_batch(self, connection: psycopg.Connection[Any]) -> dict[int, int]:
        """Give how many rows each remembered batch brought; for a table of one query."""
        statement = "select batch_id, rows from {} where table_name = %s and batch_id >= 0"
        found = execute(connection, statement, self._name, values=(self._table,))
        return dict(found.fetchall())

    def forget_after(self, connection: psycopg.Connection[Any], batch_id: int) -> None:
        """Forget the batches after this one; -1 forgets all of the table."""
        statement = "delete from {} where table_name = %s and batch_id >= 0 and batch_id > %s"
        execute(connection, statement, self._name, values=(self._table, batch_id))

    def _seen(self, connection: psycopg.Connection[Any], query_id: str, batch_id: int) -> Seen:
        values = {
            "table": self._table,
            "reserved": reserved_name(self._table),
            "query": query_id,
            "whole": WHOLE_TABLE,
            "batch": batch_id,
            "no_batch": RESERVED_BATCH,
        }
        found = execute(connection, _SEEN, self._name, values=values).fetchall()
        rows = {row[0]: row[1:] for row in found}
        newest, same = (
            HeldBatch(*rows[which]) if which in rows else None for which in ("newest", "same")
        )
        table = table_state_of(*rows["table"][1:3]) if "table" in rows else TableState()
        if "state" in rows:
            state = state_of(*rows["state"][1:])
        else:
            state = self._older_state(connection, query_id)
        return Seen(state, table, newest, same)

    def _older_state(self, connection: psycopg.Connection[Any], query_id: str) -> QueryState:
        """Give the state of a query that has no row for it yet."""
        statement = (
            "select min(batch_id), max(batch_id) from {} "
            "where table_name = %s and query_id = %s and batch_id >= 0"
        )
        found = execute(connection, statement, self._name, values=(self._table, query_id))
        oldest, newest = found.fetchone() or (None, None)
        return state_of_older_ledger(oldest, newest, KEPT_BATCHES)

    def _table_state(self, connection: psycopg.Connection[Any]) -> TableState:
        statement = (
            "select generation, offsets_digest from {} "
            "where table_name = %s and query_id = %s and batch_id = %s"
        )
        key = self._reserved_key(WHOLE_TABLE)
        row = execute(connection, statement, self._name, values=key).fetchone()
        return TableState() if row is None else table_state_of(*row)

    def _lock(self, connection: psycopg.Connection[Any], query_id: str) -> None:
        """Lock the row of a query, and first of all the ledger against those who take back.

        An UPDATE takes both in this order, also where it finds no row.
        """
        if self._touched(connection, query_id):
            return
        text, whole = TableState().text, query_id == WHOLE_TABLE
        state = QueryState() if whole else self._older_state(connection, query_id)
        statement = (
            "insert into {} (table_name, query_id, batch_id, offsets_digest, generation, rows) "
            "values (%s, %s, %s, %s, 0, 0) on conflict do nothing"
        )
        values = (*self._reserved_key(query_id), text if whole else state.text)
        execute(connection, statement, self._name, values=values)
        self._touched(connection, query_id)

    def _touched(self, connection: psycopg.Connection[Any], query_id: str) -> bool:
        statement = (
            "update {} set generation = generation "
            "where table_name = %s and query_id = %s and batch_id = %s"
        )
        key = self._reserved_key(query_id)
        return execute(connection, statement, self._name, values=key).rowcount == 1

    def _keep(
        self, connection: psycopg.Connection[Any], query_id: str, number: int, text: str, rows: int
    ) -> None:
        """Write a row that is no batch; the transaction holds its lock or the whole ledger."""
        key, told = self._reserved_key(query_id), (number, text, rows)
        changed = execute(
            connection,
            "update {} set generation = %s, offsets_digest = %s, rows = %s, "
            "committed_at = clock_timestamp() "
            "where table_name = %s and query_id = %s and batch_id = %s",
            self._name,
            values=(*told, *key),
        )
        if changed.rowcount == 0:
            statement = (
                "insert into {} (generation, offsets_digest, rows, table_name, query_id, batch_id) "
                "values (%s, %s, %s, %s, %s, %s)"
            )
            execute(connection, statement, self._name, values=(*told, *key))

    def _prune(self, connection: psycopg.Connection[Any], query_id: str, through: int) -> None:
        """Remove the rows of old batches, and keep how many rows they had brought."""
        state = self._seen(connection, query_id, _NO_BATCH).state
        if through <= state.pruned_through:
            return
        # The lower bound keeps the index scan away from the entries of rows that are long gone.
        found = execute(
            connection,
            "with gone as (delete from {} where table_name = %s and query_id = %s "
            "and batch_id > %s and batch_id <= %s returning batch_id, rows) "
            "select sum(rows), min(batch_id), max(batch_id) from gone",
            self._name,
            values=(self._table, query_id, state.pruned_through, through),
        ).fetchone()
        if found is None or found[0] is None:
            return
        after = state.pruned(*map(int, found))
        self._keep(connection, query_id, after.fence, after.text, after.pruned_rows)

    def _reserved_key(self, query_id: str) -> tuple[str, str, int]:
        return reserved_name(self._table), query_id, RESERVED_BATCH
