"""Every store of every real checkpoint: our rows are those that Spark's own reader gave."""

from __future__ import annotations

from typing import Any

import pytest

from tests.corpus.drawn import over_samples
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


COMPARED = [one for one in corpus() if str(one) not in NO_TWIN and told_of(one)]


@over_samples("one", COMPARED)
def test_rows_are_those_that_spark_gave(one: Sample) -> None:
    """The same rows with the same types; the elements of one key's list in the same order."""
    wrong = []
    for told in told_of(one):
        view = view_of(one.files(), **asked_by(told))
        ours = [as_spark_shows(view, row) for row in rows_of(view)]
        if by_key(ours) != by_key(told["rows"]):
            wrong.append((asked_by(told), ours, told["rows"]))
    assert wrong == []


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
