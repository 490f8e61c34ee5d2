"""Stands in for `psycopg.connect`: real connections, with a switch point before each statement.

Connections are borrowed from a pool: a new server process for each would take most of the time of
a schedule. A lost connection is rolled back before it returns, which is what the server does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import psycopg

from tests.simulation.postgres import choices
from tests.simulation.postgres.baton import COMMIT, Actor, CrashedError, Ghost, Point, actor_here

_real_connect = psycopg.connect
_DIRTY = re.compile(r"^\s*set (?!local|transaction)|advisory", re.IGNORECASE)
_LOCK_TIMEOUT = re.compile(r"\s*set local lock_timeout", re.IGNORECASE)
_OWN = r"\s*(set\b|select set_config|select coalesce\(current_schema)"
_CATALOG = r"|.*\bfrom pg_(class|namespace|attribute|index)\b"
_THERE = r'|\s*create table if not exists "?public"?\."?(?!holdfast_staging)'


class Pool:
    """Real connections that nobody uses right now."""

    def __init__(
        self, uri: str, *, every_statement: bool = False, tables_there: bool = True
    ) -> None:
        self.uri = uri
        self._idle: list[psycopg.Connection[Any]] = []
        self.ghosts: list[Ghost] = []
        self.ended_transactions = 0
        """Grows whenever others may see something new."""
        quiet = _OWN + (_CATALOG + _THERE if tables_there else "")
        self._quiet = None if every_statement else re.compile(quiet, re.IGNORECASE | re.DOTALL)

    def borrow(self) -> psycopg.Connection[Any]:
        """Return a connection without a transaction."""
        if self._idle:
            return self._idle.pop()
        return _real_connect(self.uri, autocommit=True, prepare_threshold=None)

    def give_back(self, real: psycopg.Connection[Any], *, dirty: bool) -> None:
        """Take a connection back; what it had begun is rolled back, as the server does."""
        if real.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
            self.ended_transactions += 1
            real.execute("rollback")
        if dirty:
            real.execute("discard all")
        real.pgconn.nonblocking = 1
        self._idle.append(real)

    def is_quiet(self, text: str) -> bool:
        """Tell whether no other actor can notice when a statement is carried out."""
        return self._quiet is not None and self._quiet.match(text) is not None

    def close(self) -> None:
        """Close what is idle."""
        for real in self._idle:
            real.close()
        self._idle.clear()

    @contextmanager
    def instead_of_psycopg(self) -> Iterator[None]:
        """Let every actor connect through the pool."""

        def connect(conninfo: str = "", **options: Any) -> Any:
            actor = actor_here()
            if actor is None:
                return _real_connect(conninfo, **options)
            return SimulatedConnection(self, actor)

        with mock.patch.object(psycopg, "connect", connect):
            yield


class SimulatedConnection:
    """What the product's code takes for a connection of psycopg, in autocommit mode."""

    def __init__(self, pool: Pool, actor: Actor) -> None:
        self._pool = pool
        self._actor = actor
        self._dirty = False
        self._real: psycopg.Connection[Any] | None = None
        self._is_in_transaction = False
        if not pool.is_quiet("set"):
            action = actor.stop_at(Point("connect"))
            if action == choices.BREAK:
                raise psycopg.OperationalError("connection refused (simulated)")
        self._real = pool.borrow()

    def __enter__(self) -> SimulatedConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """Tell whether it can't be used any more."""
        return self._real is None

    @property
    def adapters(self) -> Any:
        """Return how values are spelled, for whoever composes a statement."""
        return self._alive().adapters

    @property
    def connection(self) -> psycopg.Connection[Any]:
        """Return the real connection, for whoever composes a statement."""
        return self._alive()

    @property
    def pgconn(self) -> Any:
        """Return libpq's own connection."""
        return self._alive().pgconn

    def close(self) -> None:
        """Give the connection back."""
        real, self._real = self._real, None
        if real is not None:
            self._pool.give_back(real, dirty=self._dirty)

    def execute(self, query: Any, params: Any = None) -> psycopg.Cursor[Any]:
        """Carry out one statement, when the controller lets it."""
        with self.statement(query) as real:
            if isinstance(query, str) and _LOCK_TIMEOUT.match(query):
                # Time does not pass here: whether a wait takes too long is a decision.
                query = "select 1"
            return real.execute(query, params)

    def cursor(self) -> SimulatedCursor:
        """Return a cursor that stops as well."""
        return SimulatedCursor(self, self._alive().cursor())

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Begin a transaction; commit it, or roll it back where something was raised."""
        real = self._alive()
        assert not self._is_in_transaction, "savepoints are not simulated"
        real.execute("begin")
        self._is_in_transaction = True
        try:
            yield
        except BaseException:
            self._is_in_transaction = False
            self._roll_back()
            raise
        else:
            self._is_in_transaction = False
            self._commit(real)

    @contextmanager
    def statement(self, query: Any) -> Iterator[psycopg.Connection[Any]]:
        """Stop before a statement; turn an end that the controller wanted into the server's."""
        real = self._alive()
        text = query if isinstance(query, str) else query.as_string(real)
        self._dirty = self._dirty or _DIRTY.search(text) is not None
        if not self._pool.is_quiet(text):
            self._stop(Point("execute", " ".join(text.split())))
        self._actor.pid = real.info.backend_pid
        try:
            yield real
        except psycopg.errors.QueryCanceled as error:
            raise self._verdict(error) from None
        finally:
            if not self._is_in_transaction and not text.startswith("select"):
                self._pool.ended_transactions += 1

    def _verdict(self, error: psycopg.Error) -> psycopg.Error:
        verdict, self._actor.verdict = self._actor.verdict, None
        if verdict == choices.TIMEOUT:
            return psycopg.errors.LockNotAvailable("canceling statement due to lock timeout")
        if verdict == choices.VICTIM:
            return psycopg.errors.DeadlockDetected("deadlock detected")
        return error

    def _alive(self) -> psycopg.Connection[Any]:
        if self._actor.is_crashed:
            raise CrashedError
        if self._real is None:
            raise psycopg.OperationalError("the connection is closed")
        return self._real

    def _stop(self, point: Point) -> None:
        try:
            action = self._actor.stop_at(point)
        except CrashedError:
            self.close()
            raise
        if action == choices.BREAK:
            self.close()
            raise psycopg.OperationalError("the connection is lost (simulated)")

    def _commit(self, real: psycopg.Connection[Any]) -> None:
        try:
            action = self._actor.stop_at(Point(COMMIT))
        except CrashedError:
            self.close()
            raise
        if action == choices.GO:
            real.execute("commit")
            self._pool.ended_transactions += 1
            return
        self._real = None
        if action == choices.LATE:
            self._haunt(real)
        else:
            if action == choices.LOSE:
                real.execute("commit")
                self._pool.ended_transactions += 1
            self._pool.give_back(real, dirty=self._dirty)
        raise psycopg.OperationalError("the connection is lost (simulated)")

    def _haunt(self, real: psycopg.Connection[Any]) -> None:
        def finish() -> None:
            real.execute("commit")
            self._pool.ended_transactions += 1
            self._pool.give_back(real, dirty=self._dirty)

        self._pool.ghosts.append(Ghost(f"{self._actor.name}'s COMMIT", finish))

    def _roll_back(self) -> None:
        if self._real is None:
            return
        try:
            self._actor.stop_at(Point("rollback"))
        except CrashedError:
            self.close()
            raise
        self._real.execute("rollback")
        self._pool.ended_transactions += 1


class SimulatedCursor:
    """A cursor of an executor that loads rows."""

    def __init__(self, connection: SimulatedConnection, real: psycopg.Cursor[Any]) -> None:
        self._connection = connection
        self._real = real

    def __enter__(self) -> SimulatedCursor:
        return self

    def __exit__(self, *_: object) -> None:
        self._real.close()

    def execute(self, query: Any, params: Any = None) -> SimulatedCursor:
        """Carry out one statement, when the controller lets it."""
        with self._connection.statement(query):
            self._real.execute(query, params)
        return self

    @contextmanager
    def copy(self, statement: Any) -> Iterator[Any]:
        """Load rows, when the controller lets it."""
        with self._connection.statement(statement), self._real.copy(statement) as copy:
            yield copy
