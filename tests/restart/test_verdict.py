"""The worst change decides."""

from __future__ import annotations

import pytest

from holdfast.restart.verdict import Change, Verdict, worst_verdict


def change(verdict: Verdict) -> Change:
    return Change("HF3002", verdict, "source 0", "json", "csv", "because")


@pytest.mark.parametrize(
    ("verdicts", "decided"),
    [
        ("", "safe"),
        ("safe conditional", "conditional"),
        ("conditional unknown safe", "unknown"),
        ("unknown unsafe conditional", "unsafe"),
    ],
)
def test_the_worst_change_decides(verdicts: str, decided: str) -> None:
    changes = [change(Verdict(one)) for one in verdicts.split()]
    assert worst_verdict(changes) is Verdict(decided)
