"""One real PostgreSQL for many schedules: quick settings, a question who waits, a quick reset."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg

from holdfast.ledgers.database.postgres import LEDGER
from tests.parts.postgres import fresh_database, running_server

TABLE = "readings"
_SETTINGS = {
    # Nothing here survives the machine, and nothing has to.
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    # The scheduler sees circles itself, and decides whom the server ends.
    "deadlock_timeout": "'10min'",
}
_VACUUM_EVERY = 300


class Server:
    """A database of the simulation, and the connection that looks at it."""

    def __init__(self, uri: str) -> None:
        self.uri = uri
        self._monitor = psycopg.connect(uri, autocommit=True)
        self._resets = 0

    def blocked(self, pid: int) -> list[int]:
        """Return the backends that this one waits for."""
        row = self._monitor.execute("select pg_blocking_pids(%s)", (pid,)).fetchone()
        return [] if row is None else list(row[0])

    def cancel(self, pid: int) -> None:
        """End the statement that a backend carries out."""
        self._monitor.execute("select pg_cancel_backend(%s)", (pid,))

    def ask(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Return the rows of a plain statement, as any reader would see them."""
        cursor = self._monitor.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []

    def reset(self, statements: list[str]) -> None:
        """Carry out what brings a scenario back to its beginning; tidy the server at times."""
        self.ask("; ".join([*statements, "select 1"]))
        self._resets += 1
        if self._resets % _VACUUM_EVERY == 0:
            self.ask("vacuum")

    def tables(self) -> list[str]:
        """Name every table."""
        found = self.ask("select tablename from pg_tables where schemaname = 'public' order by 1")
        return [name for (name,) in found]

    def close(self) -> None:
        """Close the connection that looks."""
        self._monitor.close()


@contextmanager
def quick_server(uri: str | None = None) -> Iterator[Server]:
    """Start a server with quick settings, or make a database in one that runs, and give it."""
    if uri is None:
        with _in_memory(), running_server() as fresh, quick_server(fresh) as server:
            yield server
        return
    database = fresh_database(uri)
    name = database.partition("?")[0].rpartition("/")[2]
    with psycopg.connect(uri, autocommit=True) as connection:
        for setting, value in _SETTINGS.items():
            if setting in ("synchronous_commit", "deadlock_timeout"):
                connection.execute(f"alter database {name} set {setting} = {value}")
            else:
                connection.execute(f"alter system set {setting} = {value}")
        connection.execute("select pg_reload_conf()")
    server = Server(database)
    try:
        yield server
    finally:
        server.close()


@contextmanager
def _in_memory() -> Iterator[None]:
    """Let the server keep its files in memory where that is possible."""
    memory = Path("/dev/shm")
    with mock.patch.object(tempfile, "tempdir", str(memory) if memory.is_dir() else None):
        yield


__all__ = ["LEDGER", "TABLE", "Server", "quick_server"]
