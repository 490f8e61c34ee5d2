"""Text, version lines and file names are read as Spark reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.format.logs.log import (
    batch_id_of,
    decode_text,
    decode_version,
    located_lines,
    split_lines,
)
from tests.format.expecting import refusal

KNOWN = {1: "every Spark", 2: "Spark 4.2 and later"}


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"", ("HF2101", None, 0)),
        (b"v1\n\xff", ("HF2104", 2, 3)),
        (b"v1\n{}\n\xc3", ("HF2104", 3, 6)),
        (b"\x00" * 300, ("HF2117", 1, 0)),
        (b"v1\n{}\x00", ("HF2117", 2, 5)),
        (b"v1\r\n{}", ("HF2117", 1, 2)),
        ('v1\n{"é":1}\r\n'.encode(), ("HF2117", 2, 11)),
        ("\ufeffv1\n{}".encode(), ("HF2117", 1, 0)),
    ],
)
def test_bytes_that_spark_never_writes_are_refused_where_they_are(
    data: bytes, answer: tuple[str, int, int]
) -> None:
    assert refusal(lambda raw: decode_text(raw, "entry"), data) == answer


def test_spark_overlooks_carriage_returns_alone() -> None:
    for data, overlooked in ((b"v1\r\n{}", True), (b"v1\n\0", False)):
        with pytest.raises(DecodeError) as caught:
            decode_text(data, "entry")
        assert caught.value.overlooked is overlooked


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1))
def test_any_other_text_is_taken(text: str) -> None:
    if not text.startswith("\ufeff"):
        assert decode_text(text.encode(), "entry") == text


@pytest.mark.parametrize(("line", "version"), [("v1", 1), ("v2", 2), ("v01", 1), ("v+1", 1)])
def test_a_version_is_read_as_java_reads_an_int(line: str, version: int) -> None:
    assert decode_version(line, known=KNOWN) == version


@pytest.mark.parametrize(
    "line",
    [
        "",
        "v",
        "v0",
        "v-1",
        " v1",
        "v1 ",
        "V1",
        "1",
        "v1x",
        "v1.0",
        "v\u0662",
        "v2147483648",
        "v" * 99,
    ],
)
def test_what_spark_calls_a_malformed_log_file_is_one(line: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_version(line, known=KNOWN)
    error = caught.value
    assert (error.code.number, error.line, error.byte) == ("HF2102", 1, 0)


def test_a_newer_version_names_what_is_known() -> None:
    with pytest.raises(DecodeError) as caught:
        decode_version("v3", known=KNOWN, what="offsets entry")
    assert caught.value.code.number == "HF2103"
    assert "newer than what Spark 4.3 writes" in caught.value.message
    assert "v2 (Spark 4.2 and later)" in caught.value.message


def test_lines_end_at_line_feeds_alone() -> None:
    assert split_lines("a\u2028b\x0bc\nd") == ["a\u2028b\x0bc", "d"]
    assert split_lines("a\n") == ["a"]
    assert split_lines("a\n\n") == ["a", ""]


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n")), min_size=1))
def test_every_line_knows_its_first_byte(lines: list[str]) -> None:
    data = "\n".join(lines).encode()
    for number, byte, line in located_lines(lines, 0):
        assert line == lines[number - 1]
        assert data[byte:].startswith(line.encode())
        assert data[:byte].count(b"\n") == number - 1


@pytest.mark.parametrize(
    ("name", "batch_id"),
    [
        ("0", 0),
        ("17", 17),
        ("007", 7),
        ("+7", 7),
        ("-0", 0),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", None),
        ("-1", None),
        ("", None),
        ("+", None),
        ("7 ", None),
        ("7.compact", None),
        (".7.crc", None),
        (".7.0c2b.tmp", None),
        ("1_0", None),
        ("\u0667", None),
    ],
)
def test_a_batch_is_a_name_that_is_a_java_long(name: str, batch_id: int | None) -> None:
    assert batch_id_of(name) == batch_id
