"""Moments are RFC 3339 in UTC."""

from __future__ import annotations

import re

import pytest

from holdfast.records.moments import moment_now, seconds_since


def test_now_is_in_utc_to_the_millisecond(monkeypatch: pytest.MonkeyPatch) -> None:
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", moment_now())
    monkeypatch.setattr("time.time", lambda: 1_700_000_000.25)
    assert moment_now() == "2023-11-14T22:13:20.250Z"
    assert seconds_since("2023-11-14T22:13:10.250Z") == 10
    assert seconds_since("2023-11-14T23:13:20.250+01:00") == 0


@pytest.mark.parametrize("other", ["", "yesterday", "2023-11-14T22:13:10", "2023-11-14"])
def test_what_is_no_moment_has_no_age(other: str) -> None:
    assert seconds_since(other) is None
