"""Rewind and clear do what they say, or refuse with nothing changed."""

from __future__ import annotations

import pytest

from tests.spark.sinks.deliveries import QUERY, identity
from tests.spark.sinks.promises.delivering import Tried, refused, subjects_with

pytestmark = pytest.mark.spark

each_way = subjects_with(lambda one: not one.is_sibling)


@each_way
def test_a_rewind_takes_later_batches_back(tried: Tried) -> None:
    """The rows before stay, and other rows can be delivered under the same ids."""
    sink = tried.filled(3)
    if "rewind" not in tried.subject.takes_back:
        seen = tried.seen()
        assert refused(lambda: sink.rewind(QUERY, 0, generation=1)) == "HF5011"
        assert (tried.seen(), tried.opened().last_committed(QUERY).value) == (seen, 2)
        return
    sink.rewind(QUERY, 0, generation=1)
    assert tried.rows() == tried.state(0)
    assert tried.opened().last_committed(QUERY).value == 0
    assert not sink.write(tried.batch(2), identity(1, "new")).skipped
    assert tried.opened().write(tried.batch(2), identity(1, "new")).skipped
    assert tried.rows() == tried.state(0, 2)


@each_way
def test_clear_removes_rows_and_memory(tried: Tried) -> None:
    """The next first batch is a first batch again."""
    sink = tried.filled(2)
    if "clear" not in tried.subject.takes_back:
        seen = tried.seen()
        assert refused(lambda: sink.clear(generation=1)) == "HF5011"
        assert (tried.seen(), tried.opened().last_committed(QUERY).value) == (seen, 1)
        return
    sink.clear(generation=1)
    assert tried.rows().total() == 0
    assert tried.opened().last_committed(QUERY).value is None
    again = tried.opened()
    assert not again.write(tried.batch(2), identity(0, "new")).skipped
    assert tried.rows() == tried.state(2)
