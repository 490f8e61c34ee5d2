"""What the state of a query keeps of its aggregates."""

from __future__ import annotations

from holdfast.jobs.queryshape import buffers_of


def test_only_known_functions_have_certain_columns() -> None:
    """One that is not known may be an aggregate of the user's."""
    assert buffers_of(frozenset({"avg", "upper"})) == frozenset({"sum", "count"})
    assert buffers_of(frozenset({"max", "mine"})) is None
    assert buffers_of(frozenset()) is None
