"""Nothing lenient comes in, and what goes out is spelled as Jackson spells it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.format.strictjson import decode_json, decode_object, encode_json
from tests.format.strategies import JSON


def refused(text: str) -> tuple[str, int | None, int | None]:
    with pytest.raises(DecodeError) as caught:
        decode_json(text, what="entry", line=3, byte=100)
    assert caught.value.message.startswith("entry: ")
    return caught.value.code.number, caught.value.line, caught.value.byte


@given(JSON)
def test_what_is_encoded_decodes_to_itself(value: object) -> None:
    assert decode_json(encode_json(value), what="entry") == value


@given(JSON)
def test_the_encoding_is_compact_json(value: object) -> None:
    assert json.loads(encode_json(value)) == value
    assert encode_json({"a": [1, {"b": "é"}]}) == '{"a":[1,{"b":"é"}]}'


def test_control_characters_are_escaped_as_jackson_does() -> None:
    assert encode_json('\x1f\x0b\n\t"\\u001f/\x7f') == '"\\u001F\\u000B\\n\\t\\"\\\\u001f/\x7f"'


@pytest.mark.parametrize(
    ("text", "code", "byte"),
    [
        ("", "HF2105", 100),
        ("{", "HF2105", 101),
        ('{"a":1,}', "HF2105", 107),
        ('{"ä":x}', "HF2105", 106),
        ("nul", "HF2105", 100),
        ("'a'", "HF2105", 100),
        ('"a\tb"', "HF2105", 102),
        ('"a', "HF2105", 100),
        ("[NaN]", "HF2105", 100),
        ("-Infinity", "HF2105", 100),
        (r'"\ud800"', "HF2105", 100),
        (r'{"\udc00":1}', "HF2105", 100),
        ('{"a":1,"b":2,"a":1}', "HF2116", 100),
        ('[{"x":{"a":1,"a":1}}]', "HF2116", 100),
        ('{"a":1}}', "HF2110", 107),
        ("1 2", "HF2110", 102),
        ("9" * 5_000, "HF2107", 100),
        ("1e999", "HF2107", 100),
        ("[" * 201 + "]" * 201, "HF2109", 100),
        ('{"a":' * 201 + "1" + "}" * 201, "HF2109", 100),
        ("[" * 200_000 + "]" * 200_000, "HF2109", 100),
    ],
)
def test_what_spark_never_writes_is_refused_and_located(text: str, code: str, byte: int) -> None:
    assert refused(text) == (code, 3, byte)


@pytest.mark.parametrize(("text", "overlooked"), [(' {"a":1}x', True), ("5 6", False)])
def test_jackson_overlooks_what_follows_an_object(text: str, overlooked: bool) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_json(text, what="entry")
    assert (caught.value.code.number, caught.value.overlooked) == ("HF2110", overlooked)


def test_what_is_unusual_but_json_is_taken() -> None:
    assert decode_json(' {"a" : [1.5, -0, 1e3]}\n', what="entry") == {"a": [1.5, 0, 1000.0]}
    assert decode_json(r'"\ud83d\ude00"', what="entry") == "\U0001f600"
    assert decode_json("[" * 200 + "]" * 200, what="entry") is not None
    wide = "[" + ",".join(["[]"] * 5_000) + "]"
    assert decode_json(wide, what="entry") == [[]] * 5_000


@given(st.sampled_from(["[]", "1", "null", '"a"', "true", "1.5"]))
def test_an_object_is_an_object(text: str) -> None:
    with pytest.raises(DecodeError) as caught:
        decode_object(text, what="entry", line=2, byte=7)
    assert (caught.value.code.number, caught.value.line, caught.value.byte) == ("HF2106", 2, 7)


@given(st.text())
def test_any_text_is_decoded_or_refused(text: str) -> None:
    try:
        decode_json(text, what="entry")
    except DecodeError:
        return
    json.loads(text)
