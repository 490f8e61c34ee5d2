"""What holds for every test."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from holdfast.redaction import known

# A JVM that lives for seconds spends most of them on compiling what it will never run again.
os.environ.setdefault("SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1")


@pytest.fixture(autouse=True)
def forgotten_secrets() -> Iterator[None]:
    """Forget what a test made a secret: it may be an ordinary word to the next one."""
    before = known._secrets._values
    yield
    known._secrets._values = before
