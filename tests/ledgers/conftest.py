"""The S3 server of the storage tests, for sinks that lie there."""

from __future__ import annotations

from tests.storage.conftest import s3, s3_server

__all__ = ["s3", "s3_server"]
