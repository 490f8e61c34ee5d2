"""Records as JSON: the same bytes for the same record, strict and open to added fields."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import Any

import pytest

from holdfast.records.documents import (
    UnreadableError,
    decode_document,
    document_of,
    encode_document,
)


class Colour(str, Enum):
    RED = "red"


@dataclass(frozen=True)
class Inner:
    number: int


@dataclass(frozen=True)
class Outer:
    name: str
    ratio: float
    inner: Inner
    several: tuple[Inner, ...] = ()
    maybe: str | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    colour: Colour | None = None
    sure: bool = False


FULL = Outer("ä", 1.5, Inner(1), (Inner(2), Inner(3)), "x", {"b": "1", "a": "2"}, Colour.RED, True)
PLAIN: dict[str, Any] = json.loads(encode_document(document_of(FULL)))


def test_a_record_comes_back_as_it_was() -> None:
    content = encode_document(document_of(FULL))
    assert decode_document(Outer, content) == FULL
    assert content.isascii()
    assert content.endswith(b"}\n")


def test_the_order_of_a_mapping_does_not_matter() -> None:
    turned = Outer("ä", 1.5, Inner(1), (), None, MappingProxyType({"a": "2", "b": "1"}))
    straight = Outer("ä", 1.5, Inner(1), (), None, {"b": "1", "a": "2"})
    assert encode_document(document_of(turned)) == encode_document(document_of(straight))


def test_added_fields_are_passed_over_and_missing_ones_have_their_defaults() -> None:
    document = {"name": "n", "ratio": 2, "inner": {"number": 1, "later": []}, "new": {"x": 1}}
    assert decode_document(Outer, json.dumps(document).encode()) == Outer("n", 2.0, Inner(1))


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"name": 1}, "outer.name is not of type str"),
        ({"ratio": "1"}, "outer.ratio is not of type float"),
        ({"ratio": True}, "outer.ratio is not of type float"),
        ({"inner": None}, "outer.inner is not of type dict"),
        ({"inner": {}}, "outer.inner.number is missing"),
        ({"inner": {"number": True}}, "outer.inner.number is not of type int"),
        ({"several": {}}, "outer.several is not of type list"),
        ({"several": [1]}, "outer.several is not of type dict"),
        ({"maybe": 1}, "outer.maybe is not of type str"),
        ({"texts": {"a": 1}}, "outer.texts.a is not of type str"),
        ({"colour": "green"}, "outer.colour has an unknown value"),
        ({"colour": []}, "outer.colour has an unknown value"),
        ({"sure": 1}, "outer.sure is not of type bool"),
    ],
)
def test_a_wrong_kind_is_told_with_its_name(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(UnreadableError, match=told):
        decode_document(Outer, json.dumps({**PLAIN, **changes}).encode())


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"name": NaN}', b"1" * 10_000]
)
def test_other_bytes_are_unreadable(content: bytes) -> None:
    with pytest.raises(UnreadableError):
        decode_document(Outer, content)
