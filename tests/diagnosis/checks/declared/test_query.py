"""A declared query against the checkpoint: silent where it is the same, or not certain."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.diagnosis.doctor.doctor import Examinee
from holdfast.jobs.queryshape import UNCERTAIN
from holdfast.jobs.sqltext import sql_shape
from tests.checkpoint.pictures import files_of, without
from tests.diagnosis.doctor.examining import found
from tests.diagnosis.doctor.fieldscenarios import deduplicating, over_source, queried, swapped
from tests.diagnosis.doctor.scenarios import alone, declared

CODES = {"HF2361", "HF2362", "HF2363", "HF2364"}
COUNTS = "select key, mine(*) from source group by key"


@pytest.mark.parametrize(
    "examined",
    [
        queried(over_source(COUNTS)),
        queried(over_source("select KEY, mine(*) from source group by KEY")),
        queried(UNCERTAIN),
        queried(over_source("select * from source"), "stateless"),
        queried(deduplicating('["key", "at"]'), "deduplicate-columns"),
        queried(deduplicating(""), "deduplicate-columns"),
    ],
)
def test_the_same_query_gives_no_finding(examined: tuple[Examinee, ...]) -> None:
    """Nor one that is not certain."""
    assert not CODES & found(*examined).keys()


def test_the_same_order_gives_no_finding() -> None:
    """Swapped back."""
    (one,) = swapped()
    assert one.job is not None
    text = "select * from first union all select * from second"
    job = replace(one.job, query=sql_shape(text, ("first", "second")))
    assert not CODES & found(replace(one, job=job)).keys()


def test_state_that_was_never_committed_is_not_missed() -> None:
    """The first batch may have been killed before it wrote any."""
    files = without(files_of("pending-first"))
    job = replace(declared(), query=over_source(COUNTS))
    assert "HF2362" not in found(*alone(files, job=job))


def test_a_key_of_another_name_is_reported() -> None:
    """Spark would not: it compares types alone."""
    other = found(*queried(over_source("select city, mine(*) from source group by city")))
    assert other["HF2363"].evidence == {"declared": ["city"], "recorded": ["key"]}


def test_keys_of_a_deduplication_are_compared() -> None:
    """By number and by name."""
    fewer = found(*queried(deduplicating('["key"]'), "deduplicate-columns"))
    assert fewer["HF2363"].evidence["recorded"] == ["at", "key"]
