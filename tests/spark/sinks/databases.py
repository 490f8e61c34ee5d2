"""Gives every sink under test a place of its own, with a database where it wants one."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from tests.parts.door import door_to
from tests.parts.h2 import running_h2
from tests.parts.postgres import fresh_database, running_server
from tests.spark.sinks.plainreading import Place
from tests.spark.sinks.subjects import Subject

_numbers = itertools.count()


@dataclass(frozen=True)
class Databases:
    """The servers that places are made on."""

    postgres: str
    """The URI of a PostgreSQL server behind a socket."""
    port: int
    """Where a Java driver reaches the same server."""
    h2: str

    def place(self, folder: Path, subject: Subject) -> Place:
        """Give a folder, and a fresh database where the sink wants one."""
        if not subject.needs_database:
            return Place(folder)
        if subject.jars == "h2":
            return Place(folder, jdbc_url=f"{self.h2}promised{next(_numbers)}")
        uri = fresh_database(self.postgres)
        name = urlsplit(uri).path
        return Place(folder, uri, f"jdbc:postgresql://127.0.0.1:{self.port}{name}?user=postgres")


@contextmanager
def databases_on(postgres: str, h2: str) -> Iterator[Databases]:
    """Open PostgreSQL to Java drivers."""
    (folder,) = parse_qs(urlsplit(postgres).query)["host"]
    with door_to(f"{folder}/.s.PGSQL.5432") as door:
        yield Databases(postgres, door.port, h2)


@contextmanager
def running_databases(folder: Path) -> Iterator[Databases]:
    """Start every server."""
    with (
        running_server() as postgres,
        running_h2(folder) as h2,
        databases_on(postgres, h2) as databases,
    ):
        yield databases
