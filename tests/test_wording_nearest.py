"""The one helper behind every "did you mean"."""

from __future__ import annotations

from holdfast.wording import CLOSE, nearest


def test_the_most_similar_name_is_found_whatever_its_case() -> None:
    known = ("maxFilesPerTrigger", "maxFileAge", "latestFirst")
    assert nearest("maxFilesPerTriger", known) == "maxFilesPerTrigger"
    assert nearest("MAXFILEAGE", known) == "maxFileAge"
    assert nearest("header", known) is None and nearest("x", ()) is None


def test_a_closer_likeness_can_be_asked_for() -> None:
    assert nearest("maxAge", ("maxFileAge",)) == "maxFileAge"
    assert nearest("maxAge", ("maxFileAge",), CLOSE) is None
