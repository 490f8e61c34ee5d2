"""Every store of every real checkpoint: our rows are those that Spark's own reader gave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.corpus.loading import Sample, corpus, sample
from tests.state.states import as_spark_shows, asked_by, rows_of, view_of
from tests.state.truth.digests import by_key

TWINS = ("4.0.5", "4.1.4", "4.3.0")
"""Spark 3.5 has no reader, and 4.0 refuses checkpoint format 2: inputs are the same everywhere,
so the rows of the next Spark are the ones to expect."""

NO_TWIN = {
    "upgrade-refused@3.5.9": "4.3 refused to continue it, and nothing read it",
    "upgrade@3.5.9": "its twin went on: it is compared as upgrade@4.3.0",
    "upgrade-rocksdb@3.5.9": "its twin went on: it is compared as upgrade-rocksdb@4.3.0",
    "pandas-state-timeout@3.5.9": "its timeouts are times of the clock",
    "upgrade-refused@4.3.0": "4.3 refused to continue it, and nothing read it",
}


def told_of(one: Sample) -> list[dict[str, Any]]:
    """Give what Spark said of a sample's stores, or of its twin's where it said nothing."""
    own = one.facts["state"] or []
    if own and all(told["rows"] is not None for told in own):
        return own
    twins = [sample(one.name, spark) for spark in TWINS if spark > one.spark]
    for twin in twins:
        if twin.archive.exists() and twin.facts["state"]:
            return list(twin.facts["state"])
    return []


def stores() -> Iterator[Any]:
    """Name every store of every sample with state."""
    for one in corpus():
        if str(one) not in NO_TWIN:
            for told in told_of(one):
                name = "-".join(list(asked_by(told).values())[1:])
                yield pytest.param(one, told, id=f"{one}-{told['operatorId']}-{name}")


@pytest.mark.parametrize(("one", "told"), list(stores()))
def test_rows_are_those_that_spark_gave(one: Sample, told: dict[str, Any]) -> None:
    """The same rows with the same types; the elements of one key's list in the same order."""
    view = view_of(one.files(), **asked_by(told))
    ours = [as_spark_shows(view, row) for row in rows_of(view)]
    assert by_key(ours) == by_key(told["rows"])


def test_every_sample_with_state_is_compared() -> None:
    """Nothing is left out silently: what has no rows to compare with is named with the reason."""
    with_state = [one for one in corpus() if any(path.startswith("state/") for path in one.files())]
    assert len(with_state) == 203
    assert {str(one) for one in with_state if not told_of(one)} <= NO_TWIN.keys()


@pytest.mark.parametrize("name", NO_TWIN)
def test_what_spark_never_read_can_be_read(name: str) -> None:
    """Without rows to compare with, they are at least there."""
    shape, _, spark = name.partition("@")
    assert rows_of(view_of(sample(shape, spark).files()))
