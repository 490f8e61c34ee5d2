"""Fields are taken with their types, and nothing that is left over gets lost."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from holdfast.errors import DecodeError
from holdfast.format.strictjson import INT32, Fields


def fields_of(text: str) -> Fields:
    return Fields.of(text, what="entry", line=2, byte=3)


def test_what_is_taken_is_gone_and_the_rest_is_kept() -> None:
    fields = fields_of('{"n":1,"t":"x","f":false,"o":{"a":"b"},"l":[2],"new":null}')
    assert fields.take_integer("n") == 1
    assert fields.take_text("t") == "x"
    assert fields.take_flag("f") is False
    assert fields.take_texts("o") == {"a": "b"}
    assert fields.take_list("l") == [2]
    assert fields.rest() == {"new": None}


def test_defaults_stand_in_for_missing_fields_alone() -> None:
    assert fields_of("{}").take_integer("n", default=7) == 7
    assert fields_of("{}").take_flag("f", default=False) is False
    with pytest.raises(DecodeError):
        fields_of('{"n":null}').take_integer("n", default=7)


@pytest.mark.parametrize(
    ("text", "take", "code"),
    [
        ("{}", lambda f: f.take_integer("x"), "HF2106"),
        ('{"x":true}', lambda f: f.take_integer("x"), "HF2106"),
        ('{"x":1.0}', lambda f: f.take_integer("x"), "HF2106"),
        ('{"x":9223372036854775808}', lambda f: f.take_integer("x"), "HF2107"),
        ('{"x":-9223372036854775809}', lambda f: f.take_integer("x"), "HF2107"),
        ('{"x":2147483648}', lambda f: f.take_integer("x", bounds=INT32), "HF2107"),
        ('{"x":1}', lambda f: f.take_text("x"), "HF2106"),
        ('{"x":1}', lambda f: f.take_flag("x"), "HF2106"),
        ('{"x":[]}', lambda f: f.take_object("x"), "HF2106"),
        ('{"x":{}}', lambda f: f.take_list("x"), "HF2106"),
        ('{"x":{"a":1}}', lambda f: f.take_texts("x"), "HF2106"),
        ('{"x":null}', lambda f: f.take_texts("x"), "HF2106"),
        ('{"x":1}', lambda f: f.inner("x", 1), "HF2106"),
    ],
)
def test_a_wrong_field_is_refused_where_its_object_begins(
    text: str, take: Callable[[Fields], object], code: str
) -> None:
    with pytest.raises(DecodeError) as caught:
        take(fields_of(text))
    error = caught.value
    assert (error.code.number, error.line, error.byte) == (code, 2, 3)
    assert "x" in error.message


def test_the_ends_of_the_ranges_are_inside() -> None:
    fields = fields_of('{"a":9223372036854775807,"b":-9223372036854775808}')
    assert (fields.take_integer("a"), fields.take_integer("b")) == (2**63 - 1, -(2**63))


@pytest.mark.parametrize(
    ("text", "take", "overlooked"),
    [
        ('{"x":1.5}', lambda f: f.take_integer("x"), True),
        ('{"x":9223372036854775808}', lambda f: f.take_integer("x"), True),
        ('{"x":"1"}', lambda f: f.take_integer("x"), False),
        ('{"x":null}', lambda f: f.take_integer("x", default=0), True),
        ('{"x":null}', lambda f: f.take_integer("x"), False),
        ('{"x":null}', lambda f: f.take_texts("x"), True),
        ('{"x":{"a":1}}', lambda f: f.take_texts("x"), True),
        ('{"x":{"a":[]}}', lambda f: f.take_texts("x"), False),
        ("{}", lambda f: f.take_texts("x"), False),
    ],
)
def test_what_spark_would_overlook_is_told(
    text: str, take: Callable[[Fields], object], overlooked: bool
) -> None:
    with pytest.raises(DecodeError) as caught:
        take(fields_of(text))
    assert caught.value.overlooked is overlooked
