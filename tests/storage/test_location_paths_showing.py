"""What people see can be printed anywhere and holds no secret."""

from __future__ import annotations

import pytest

from holdfast.storage.location import place_within, shown_path, shown_url


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("offsets/0", "offsets/0"),
        ("a b/é/\\x", "a b/é/\\x"),
        ("\udcff\udc80", "\\xff\\x80"),
        ("a\r\n\x1b[2J\u202e", "a\\r\\n\\x1b[2J\\u202e"),
        ("\ud800", "\\ud800"),
    ],
)
def test_paths(path: str, shown: str) -> None:
    assert shown_path(path) == shown
    shown_path(path).encode("utf-8")


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("s3://b/day=1/x", "s3://b/day=1/x"),
        ("s3://b/x?versionId=abc", "s3://b/x?versionId=***"),
        ("https://u:p@h:80/x#token=abc", "https://h:80/x#token=***"),
        ("https://h:80/x@y", "https://h:80/x@y"),
        ("s3:/u:p@b/x", "s3:/b/x"),
    ],
)
def test_urls(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_places() -> None:
    assert place_within("/a/", "b\n") == "/a/b\\n"
    assert place_within("/a", "") == "/a"
