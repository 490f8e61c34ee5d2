"""A Spark in which queries are planned and none is started."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.running.options import RunContext, RunOptions
from holdfast.running.settings import SessionOptions
from holdfast.running.stopping import Stopping
from holdfast.spark.jvm import Jvm
from holdfast.spark.session import has_session, open_session, stop_session, versions_of


@contextmanager
def planning(wish: SessionOptions) -> Iterator[RunContext]:
    """Open a session, or use the one that is there, which is left as it was found."""
    found = has_session()
    session = open_session(wish)
    try:
        options = RunOptions(settings=wish.conf)
        yield RunContext(
            session, Jvm.of(session), versions_of(session), options, Stopping(), lambda _: None
        )
    finally:
        if not found:
            stop_session(session)
