"""Rate-micro-batch offsets, as Spark 4.3.0 wrote them."""

from __future__ import annotations

import pytest

from holdfast.errors import DecodeError
from holdfast.format.sources import Amount, SourceEvidence, amount_between, explain
from holdfast.format.sources import went_back as moved_back

FIVE = SourceEvidence('{"offset":5,"timestamp":1000}')
TWENTY = SourceEvidence('{"offset":20,"timestamp":4000}')


def test_the_shape_is_likely() -> None:
    explained = explain(TWENTY)

    assert (explained.kind, explained.basis) == ("rate-micro-batch", "shape")
    assert explained.decoded == {"offset": 20, "timestamp": 4000}
    assert explained.summary == "20 rows made"


@pytest.mark.parametrize("text", ['{"offset":-1,"timestamp":1}', '{"offset":1,"timestamp":"x"}'])
def test_what_the_source_could_not_have_written_is_refused(text: str) -> None:
    with pytest.raises(DecodeError):
        explain(SourceEvidence(text))


def test_rows_are_counted_from_zero() -> None:
    assert amount_between("rate-micro-batch", None, FIVE) == Amount("rows", 5)
    assert amount_between("rate-micro-batch", FIVE, TWENTY) == Amount("rows", 15)
    assert amount_between("rate-micro-batch", TWENTY, FIVE).total is None


def test_fewer_rows_went_back() -> None:
    assert moved_back("rate-micro-batch", TWENTY, FIVE) == "offset went back from 20 to 5"
    assert moved_back("rate-micro-batch", FIVE, TWENTY) is None
