"""Databases that JDBC sinks write to in tests, and what is in them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from holdfast.jobs.ready import ReadySink
from holdfast.spark.sinks.database.dialects.jdbc.connection import JdbcDatabase
from holdfast.spark.sinks.opening import open_sink
from tests.parts.door import Door, door_to
from tests.parts.postgres import rows_in
from tests.spark.sinks.deliveries import AT, declared

_numbers = itertools.count()


@dataclass(frozen=True)
class Place:
    """One database."""

    session: Any
    url: str
    uri: str | None
    """How PostgreSQL is reached without JDBC."""
    door: Door | None = None

    def rows(self, statement: str) -> list[tuple[Any, ...]]:
        """Give what a statement returns."""
        if self.uri is not None:
            return rows_in(self.uri, statement)
        database = JdbcDatabase(self.session, ReadySink("jdbc", "append", AT), self.url)
        with database.connected() as connection:
            if statement.startswith("select"):
                return connection.rows(statement)
            connection.execute(statement)
            return []

    def tables(self) -> set[str]:
        """Name every table, in lower case."""
        schema = "PUBLIC" if self.uri is None else "public"
        query = "select table_name from information_schema.tables where table_schema"
        return {row[0].lower() for row in self.rows(f"{query} = '{schema}'")}

    def sink(
        self,
        mode: str = "append",
        *,
        table: str = "readings",
        key: tuple[str, ...] = (),
        order_by: str | None = None,
        batch_column: str | None = None,
        options: Mapping[str, str] | None = None,
    ) -> Any:
        """Open a sink that writes here."""
        sink = ReadySink(
            "jdbc",
            mode,
            AT,
            url=self.url,
            table=table,
            key=key,
            order_by=order_by,
            batch_column=batch_column,
            options=options or {},
        )
        return open_sink(self.session, declared(Path("unused"), sink))


@contextmanager
def postgres_place(session: Any, uri: str) -> Iterator[Place]:
    """Give a PostgreSQL database behind a door that the Java driver can pass."""
    (folder,) = parse_qs(urlsplit(uri).query)["host"]
    with door_to(f"{folder}/.s.PGSQL.5432") as door:
        name = urlsplit(uri).path
        url = f"jdbc:postgresql://127.0.0.1:{door.port}{name}?user=postgres"
        yield Place(session, url, uri, door)


def h2_place(session: Any, base: str) -> Place:
    """Give a fresh H2 database."""
    return Place(session, f"{base}test{next(_numbers)}", None)
