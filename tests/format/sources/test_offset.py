"""The types that every reader shares."""

from __future__ import annotations

import pytest

from holdfast.format.sources.offset import Amount, SourceEvidence, shorten


def test_an_amount_counts_in_a_known_unit() -> None:
    with pytest.raises(ValueError, match="no such unit"):
        Amount("bananas", 3)


def test_a_text_is_cut_with_an_ellipsis() -> None:
    assert shorten("a" * 60) == "a" * 60
    assert shorten("a" * 61) == "a" * 59 + "…"


def test_evidence_compares_by_what_was_given_alone() -> None:
    read, fresh = SourceEvidence("{}"), SourceEvidence("{}")
    assert read.value == {}
    assert read == fresh
