"""A sink can always be asked what it holds: it answers with a basis, and never raises."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.ledgers.sinkstate import Contents, SinkAnswer
from tests.parts.ports import free_port
from tests.spark.sinks.deliveries import QUERY
from tests.spark.sinks.promises.delivering import Tried, every_subject

pytestmark = pytest.mark.spark


@every_subject
def test_last_committed_has_value_and_basis(tried: Tried) -> None:
    """Before the first batch, after some, for a query that it never met, at a broken place."""
    sink = tried.opened()
    assert (sink.last_committed(QUERY).value, sink.queries()) == (None, frozenset())
    sink = tried.filled(2)
    asked = tried.opened()
    assert (asked.last_committed(QUERY).value, asked.queries()) == (1, {QUERY})
    assert asked.last_committed("another").value is None
    assert asked.last_committed(QUERY).basis and asked.last_committed("another").basis
    if tried.subject.outlives:
        _ask_broken(tried)


@every_subject
def test_a_sink_is_seen_before_a_start(tried: Tried) -> None:
    """Absent, then with its batches; without them it is not ours; looking writes nothing."""
    sink = tried.opened()
    for query in (QUERY, None):
        fresh = sink.sight(query)
        assert fresh.held.value is None and fresh.newest_delivered is None
    if not tried.subject.outlives:
        assert (fresh.place, fresh.contents) == (None, Contents.UNKNOWN)
        return
    assert (
        fresh.place and fresh.contents.is_without_rows and fresh.held.answer is SinkAnswer.NOTHING
    )
    tried.filled(2)
    seen = tried.seen()
    asked = tried.opened()
    asked.prepare(tried.batch(0).schema, begun=True)
    here, other = asked.sight(QUERY), asked.sight("another")
    assert (here.held.value, here.newest_delivered, here.doubt) == (1, 1, None)
    assert {fresh.place, other.place} == {here.place}
    assert (here.incarnation is None) == (tried.subject.family not in ("delta", "postgres"))
    is_function = tried.subject.family == "custom"
    assert other.contents is (Contents.EMPTY if is_function else Contents.ROWS)
    assert other.held.answer is SinkAnswer.NOTHING
    assert tried.seen() == seen


def _ask_broken(tried: Tried) -> None:
    """Every file of the ledger is garbage, then a folder; or nobody answers."""
    broken = tried
    if tried.subject.needs_database:
        where = f"127.0.0.1:{free_port()}/none"
        driver = "h2:tcp" if tried.subject.jars else "postgresql"
        nobody = replace(
            tried.place,
            database=f"postgresql://{where}?connect_timeout=2",
            jdbc_url=f"jdbc:{driver}://{where}",
        )
        broken = replace(tried, place=nobody)
    for path in _ledger_files(tried.place.folder):
        path.write_bytes(b"\x00garbage")
    told = broken.opened().last_committed(QUERY)
    assert told.basis and told.value in (None, 1)
    for path in _ledger_files(tried.place.folder):
        path.unlink()
        path.mkdir()
    told = broken.opened().last_committed(QUERY)
    assert told.basis and told.value in (None, 1)
    assert broken.opened().queries() <= {QUERY}


def _ledger_files(folder: Path) -> Iterator[Path]:
    for pattern in ("lake/*/_delta_log/*.json", "**/manifests/*/*.json", "**/batches/*/*.json"):
        yield from list(folder.glob(pattern))
