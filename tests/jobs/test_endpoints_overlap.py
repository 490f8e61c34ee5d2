"""Places inside of others, plain and by pattern."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.jobs.endpoints import lies_inside, overlaps, parts_between


@pytest.mark.parametrize(
    ("inner", "outer", "inside"),
    [
        ("file:///a/b", "file:///a", True),
        ("file:///a", "file:///a", True),
        ("file:///ab", "file:///a", False),
        ("file:///a", "file:///a/b", False),
        ("file:///a", "file:///", True),
        ("s3://a/b", "file:///a", False),
        ("s3://bucket/x", "s3://bucket", True),
        ("hdfs:///a/b", "hdfs://a", False),
        ("dbfs:/a/b", "dbfs:/a", True),
        ("file:///in/x.json", "file:///in/*.json", True),
        ("file:///in/checkpoints/x", "file:///in/*.json", False),
        ("file:///in/checkpoints/x", "file:///in/*", True),
        ("file:///in/b/x", "file:///in/{a,b}", True),
        ("file:///in/c/x", "file:///in/{a,b}", False),
        ("file:///in/c", "file:///in/[a-d]", True),
        ("file:///in/c", "file:///in/[^a-d]", False),
        ("file:///in/c1", "file:///in/c?", True),
        ("file:///in/*/x", "file:///in/y", True),
        ("file:///in/*.json", "file:///in/a*", True),
        ("file:///in/[a", "file:///in/[a", True),
        ("file:///in/b", "file:///in/{a", False),
        ("file:///p/${env:X}/a", "file:///p/${env:X}", True),
    ],
)
def test_inside(inner: str, outer: str, inside: bool) -> None:
    assert lies_inside(inner, outer) is inside


def test_the_parts_between() -> None:
    assert parts_between("s3://b/a/_c/d", "s3://b/a") == ("_c", "d")
    assert parts_between("s3://b/a", "s3://b/a") == ()


def test_equal_places_pair_up_once() -> None:
    assert overlaps(["file:///a", "file:///b", "file:///a"]) == [(0, 2)]
    assert overlaps(["file:///a/*", "file:///a/*"]) == [(0, 1)]


PLACES = st.lists(
    st.lists(st.sampled_from(["a", "b", "ab", "*", "{a,b}"]), max_size=3).map(
        lambda parts: "file:///" + "/".join(parts)
    ),
    max_size=6,
)


@given(PLACES)
def test_all_pairs_are_found_and_no_other(places: list[str]) -> None:
    """The lookup by folders gives what comparing each with each gives."""
    wanted = set()
    for inner in range(len(places)):
        for outer in range(len(places)):
            if inner != outer and lies_inside(places[inner], places[outer]):
                both = lies_inside(places[outer], places[inner])
                wanted.add((min(inner, outer), max(inner, outer)) if both else (inner, outer))
    assert set(overlaps(places)) == wanted
    assert len(overlaps(places)) == len(wanted)
