"""The S3 server of the storage tests: started once, never skipped."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.storage.s3server import S3Server


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    server = S3Server()
    yield server
    server.stop()


@pytest.fixture
def s3(s3_server: S3Server) -> S3Server:
    s3_server.failing.clear()
    s3_server.requests.clear()
    return s3_server
