"""Remembered values go wherever they stand and however they are written."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote, quote_plus

import pytest

from holdfast.redaction import redact, remember_secret
from holdfast.redaction.known import KnownSecrets

VALUES = [
    "hunter2",
    "p@ss w/ö+rd",
    'qu"ote\\back\nline',
    "zażółć gęślą 🔑 jaźń",
    "plainlongsecretvalue",
]


def known(*values: str) -> KnownSecrets:
    secrets = KnownSecrets()
    for value in values:
        secrets.remember(value)
    return secrets


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    "written",
    [
        lambda value: value,
        quote,
        lambda value: quote(value, safe=""),
        quote_plus,
        lambda value: quote(quote(value, safe=""), safe=""),
        lambda value: "".join(f"%{byte:02x}" for byte in value.encode()),
        lambda value: json.dumps(value)[1:-1],
        lambda value: json.dumps(value, ensure_ascii=False)[1:-1],
        lambda value: json.dumps(json.dumps(value))[3:-3],
        lambda value: json.dumps(value)[1:-1].replace("/", "\\/"),
    ],
)
def test_every_way_of_writing_it(value: str, written: object) -> None:
    assert callable(written)
    text = f"<{written(value)}>"
    assert known(value).redact(text) == "<[redacted]>"


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("before", [b"", b"a", b"ab", b"abc", b"\xff\x00\x01\x02"])
@pytest.mark.parametrize("encode", [base64.b64encode, base64.urlsafe_b64encode])
def test_base64_at_every_alignment(value: str, before: bytes, encode: object) -> None:
    assert callable(encode)
    text = encode(before + value.encode() + b"\x03tail").decode()
    redacted = known(value).redact(text)
    assert "[redacted]" in redacted
    left = base64.urlsafe_b64decode(
        (part := redacted.split("[redacted]")[0].replace("+", "-").replace("/", "_"))
        + "A" * (-len(part) % 4)
    )
    assert value.encode()[:2] not in left


def test_a_longer_secret_is_not_spoiled_by_one_inside_it() -> None:
    assert known("abcdef", "abcdef-ghijkl").redact("x abcdef-ghijkl y") == "x [redacted] y"


def test_short_values_go_as_whole_words_only() -> None:
    assert known("8080").redact("host:8080 batch 180801") == "host:[redacted] batch 180801"


@pytest.mark.parametrize("value", ["", "1", "abc", "true", "null", "https", "redact", "[redacted]"])
def test_values_that_would_destroy_ordinary_text_are_not_taken(value: str) -> None:
    text = f"batch 1 is true, [redacted], abc null https://h {value}"
    assert known(value).redact(text) == text


def test_the_password_of_a_secret_url_is_a_secret_too() -> None:
    secrets = known("postgresql://u:open%20sesame@h/db?sslpassword=simsalabim")
    assert secrets.redact("tried 'open sesame' and simsalabim") == (
        "tried '[redacted]' and [redacted]"
    )


def test_each_long_line_of_a_secret_file_is_a_secret() -> None:
    secrets = known("first-line-of-secret\nsecond-line-of-secret\nx")
    assert secrets.redact("parse error in second-line-of-secret") == "parse error in [redacted]"


def test_a_url_that_can_not_be_parsed_is_still_a_secret() -> None:
    assert known("http://[broken:x@y").redact("a http://[broken:x@y b") == "a [redacted] b"


def test_remembered_for_the_whole_process() -> None:
    remember_secret("only-in-this-test-8d1f")
    word = base64.b64encode(b"xx only-in-this-test-8d1f").decode()
    assert redact(f"only-in-this-test-8d1f {word}") == "[redacted] [redacted]"


@pytest.mark.parametrize("spoiler", ["\\", "%25", "%41", "hunter", "aHVudGVy", "+"])
def test_a_megabyte_of_anything_ends(spoiler: str) -> None:
    text = spoiler * (1_000_000 // len(spoiler))
    assert known("hunter2 or more", 'a"b\\c/d').redact(text) == text
