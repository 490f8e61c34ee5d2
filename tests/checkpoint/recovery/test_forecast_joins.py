"""Join state of format 1: which releases go on with it, and which refuse it."""

from __future__ import annotations

import pytest

from holdfast.checkpoint.recovery.forecast import format_one_join, next_start
from holdfast.checkpoint.recovery.outcome import Action
from tests.checkpoint.pictures import Files, files_of, picture_of

FORMAT = b'"spark.sql.streaming.join.stateFormatVersion"'


def format_one() -> Files:
    """Give a join in format 1 that Spark 4.0 wrote."""
    return files_of("join-format-1", "4.0.5")


def of_spark_2() -> Files:
    """Give it without what Spark 2 did not write."""
    return {
        path: data.replace(FORMAT + b':"1",', b"")
        for path, data in format_one().items()
        if "_metadata" not in path
    }


@pytest.mark.parametrize("release", ["3.5", "4.0", "4.1", "4.2", "4.3"])
def test_an_inner_join_with_schema_files_goes_on_everywhere(release: str) -> None:
    """And what would become of an outer one is said."""
    start = next_start(picture_of(format_one()), release)
    assert start.action is not Action.FAIL
    assert "an outer join would fail" in start.reason
    assert not start.differs


@pytest.mark.parametrize(("release", "fails"), [("3.5", False), ("4.0", False), ("4.1", True),
                                                ("4.2", True), ("4.3", True)])  # fmt: skip
def test_join_state_of_spark_2_has_no_schema_files(release: str, fails: bool) -> None:
    """From 4.1 on nothing can write them, whichever kind of join it is."""
    start = next_start(picture_of(of_spark_2()), release)
    assert (start.action is Action.FAIL) == fails
    assert ("Unsupported schema writer version: 1" in start.reason) == fails
    assert not start.sink_touched or not fails


def test_state_of_a_later_format_is_not_read_in_format_one() -> None:
    """An entry that was edited, or put back from elsewhere."""
    lowered = {
        path: data.replace(FORMAT + b':"2"', FORMAT + b':"1"') if "offsets/" in path else data
        for path, data in files_of("join").items()
    }
    start = next_start(picture_of(lowered))
    assert start.action is Action.FAIL
    assert "join state format 1" in start.reason


@pytest.mark.parametrize("name", ["join", "join-outer", "join-rocksdb", "stateless", "deduplicate"])
def test_other_checkpoints_have_none(name: str) -> None:
    """Joins of later formats, and queries without a join."""
    assert format_one_join(picture_of(files_of(name))) is None
