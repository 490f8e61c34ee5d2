"""Parts that tests of several rooms share; each starts once, when first asked for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.parts.postgres import fresh_database, running_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Start a PostgreSQL server once, and give its URI."""
    with running_server() as uri:
        yield uri


@pytest.fixture
def database(postgres: str) -> str:
    """Give the URI of a database that is this test's own."""
    return fresh_database(postgres)
