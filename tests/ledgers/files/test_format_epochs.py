"""Which name of a manifest counts, after any row of rewinds and clears."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import SinkError
from holdfast.ledgers.files.format import Epochs, Fence, decode_epochs, encode_epochs

FENCES = st.lists(st.tuples(st.sampled_from(["q", "r", None]), st.integers(-1, 6)), max_size=8)


@given(FENCES)
def test_superfluous_fences_make_no_difference(made: list[tuple[str | None, int]]) -> None:
    """The epoch of a batch is what all fences together say, and it never shrinks."""
    epochs, every = Epochs(), []
    for number, (query_id, last) in enumerate(made, 1):
        batch_id = -1 if query_id is None else last
        fence = Fence(number, number, query_id, batch_id, str(number))
        before = epochs
        epochs = replace(epochs.fenced(fence), number=number)
        every.append(fence)
        for query in "qr":
            for batch in range(8):
                whole = max((one.number for one in every if one.takes(query, batch)), default=0)
                assert epochs.epoch(query, batch) == whole >= before.epoch(query, batch)
            covering = [one.generation for one in every if one.covers(query)]
            assert epochs.fenced_below(query) == max(covering, default=0)
    assert decode_epochs(encode_epochs(epochs), "here") == epochs


def test_generations_are_known_by_query() -> None:
    epochs = Epochs().opened("q", 3).opened("r", 5).fenced(Fence(1, 4, "q", 0, "t"))
    assert [epochs.newest_generation(one) for one in ("q", "r", "s", None)] == [4, 5, 0, 5]
    assert epochs.finished((1,)).unfinished == ()


def test_what_is_no_document_is_refused() -> None:
    good = encode_epochs(Epochs(1, {"q": 1}, (Fence(1, 1, "q", 0, "t"),), (1,))).decode()
    for bad in (
        "", "[]", "null", "{}", good.replace('"holdfast": 1', '"holdfast": 2'),
        good.replace('"token": "t"', '"token": 1'), good.replace('"q": 1', '"q": true'),
        good.replace('"fences": [', '"fences": [3,'), "[" * 100_000,
    ):  # fmt: skip
        with pytest.raises(SinkError) as caught:
            decode_epochs(bad.encode(), "here")
        assert (caught.value.code.number, caught.value.at) == ("HF5023", "here")
