"""Every store at every older batch that is kept: our rows have the digests of Spark's."""

from __future__ import annotations

from typing import Any

from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus
from tests.state.states import as_spark_shows, asked_by, rows_of, view_of
from tests.state.truth.digests import digest, load_digests, older_batches, store_name

TOLD = load_digests()
REFUSED = "refused"
NOT_GIVEN = {
    "aggregation-rocksdb-format-2@4.0.5": "Spark 4.0 reads no state of checkpoint format 2",
    "aggregation-rocksdb-format-2-changelog@4.0.5": "the same",
    "join-rocksdb-format-2@4.0.5": "the same",
    "transform-pandas-evolved@4.0.5": "the new variable was not there yet",
    "transform-pandas-evolved@4.3.0": "the same",
}
"""Samples of which Spark refused some store at some batch."""

ASKED = [one for one in corpus() if TOLD.get(str(one))]


@over_samples("one", ASKED)
def test_rows_are_those_that_spark_gave(one: Sample) -> None:
    """Store by store and batch by batch, where Spark gave any."""
    asked = {store_name(told): asked_by(told) for told in one.facts["state"]}
    files = one.files()
    wrong = []
    for store, batches in TOLD[str(one)].items():
        for batch, told in batches.items():
            if not told.startswith(REFUSED):
                view = view_of(files, batch=int(batch), **asked[store])
                rows = [as_spark_shows(view, row) for row in rows_of(view)]
                if digest(rows) != told:
                    wrong.append(f"{store}, batch {batch}: {digest(rows)}, and not {told}")
    assert wrong == []


def test_spark_gave_rows_but_where_it_can_not() -> None:
    """A Spark that answers nothing would prove nothing."""
    refused = {
        name
        for name, stores in TOLD.items()
        if any(told.startswith(REFUSED) for store in stores.values() for told in store.values())
    }
    assert refused == NOT_GIVEN.keys()


def test_every_sample_was_asked_about() -> None:
    """Nothing is left out silently."""
    expected: dict[str, dict[str, list[str]]] = {}
    for one in corpus():
        batches = [str(batch) for batch in older_batches(one)]
        stores: list[dict[str, Any]] = (one.facts["state"] or []) if batches else []
        if one.facts["state"]:
            expected[str(one)] = {store_name(told): batches for told in stores}
    found = {
        name: {store: list(batches) for store, batches in stores.items()}
        for name, stores in TOLD.items()
    }
    assert found == expected
