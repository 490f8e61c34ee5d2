"""`holdfast explain CODE`: every code has its page."""

from __future__ import annotations

import pytest

from holdfast.codes import CODES
from tests.cli.running import holdfast


@pytest.mark.parametrize("number", [code.number for code in CODES])
def test_every_code_has_a_page(number: str) -> None:
    """Title, why and next step, offline."""
    answered = holdfast("explain", number.lower(), "--json")
    assert answered.status == 0
    page = answered.document["result"]
    assert page["code"] == number
    assert page["title"]
    assert page["why"]
    assert page["next"]
    assert number in holdfast("explain", number).out


def test_an_unknown_code_names_the_nearest() -> None:
    """A usage error."""
    shown = holdfast("explain", "HF2999")
    assert shown.status == 2
    assert "HF2" in shown.err
