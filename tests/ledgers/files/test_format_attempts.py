"""The names of staging folders, old and new."""

from __future__ import annotations

from holdfast.ledgers.files.format import StagingAttempt, attempt_of, staging_name


def test_a_name_is_read_back() -> None:
    assert attempt_of(staging_name(7, 3)) == StagingAttempt(7, 3, 0)
    assert attempt_of(staging_name(12345678901, 3, 12)) == StagingAttempt(12345678901, 3, 12)
    assert staging_name(7, 3) != staging_name(7, 3)


def test_what_is_no_attempt() -> None:
    for name in ("", "notes.txt", "7-1-ab", "replaced-0000000007-ab", "0000000007-1-ab.0",
                 "0000000007-1-ab.x", chr(0x660) * 10 + "-1-ab"):  # fmt: skip
        assert attempt_of(name) is None
