"""What dead drivers left is never seen, and is gone when nobody can commit it any more."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.spark.sinks.deliveries import QUERY, identity
from tests.spark.sinks.promises.delivering import Tried, subjects_with

pytestmark = pytest.mark.spark


@subjects_with(lambda one: one.family == "files" and one.mode == "append")
def test_leftovers_of_dead_drivers_are_removed(tried: Tried) -> None:
    """Once no driver can commit them; they are never seen."""
    sink = tried.filled(1)
    staging = tried.place.output.parent / ".holdfast" / tried.place.output.name / "staging"
    left = staging / QUERY / "0000000001-1-0123456789ab" / "part-00000-left"
    left.parent.mkdir(parents=True)
    left.write_bytes(b"left by a dead driver")
    assert tried.rows() == tried.state(0)
    assert not sink.write(tried.batch(1), identity(1, generation=2)).skipped
    assert [path for path in staging.rglob("*") if Path(path).is_file()] == []
    assert tried.rows() == tried.state(0, 1)
