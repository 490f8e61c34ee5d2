"""State schema files of every version survive both ways; damage is refused where it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.format.state.javadata import encode_int, encode_short, encode_text
from holdfast.format.state.schema import (
    ColumnFamilySchema,
    StateSchema,
    decode_state_schema,
    encode_state_schema,
)
from holdfast.format.strictjson import encode_json
from tests.format.expecting import refusal
from tests.format.strategies import TEXTS

KEY = '{"type":"struct","fields":[{"name":"k","type":"string","nullable":true,"metadata":{}}]}'
VALUE = '{"type":"struct","fields":[{"name":"v","type":"long","nullable":true,"metadata":{}}]}'
ENCODER = '{"keyStateEncoderType":"NoPrefixKeyStateEncoderSpec"}'


def chunk(text: str) -> bytes:
    return encode_int(1) + encode_text(text)


V1 = encode_text("v1") + encode_text(KEY) + encode_text(VALUE)
V2 = encode_text("v2") + chunk(KEY) + chunk(VALUE)
FAMILY = (
    encode_text("total")
    + encode_short(0)
    + chunk(KEY)
    + encode_short(3)
    + chunk(VALUE)
    + chunk(ENCODER)
    + chunk("{    }")
)
V3 = encode_text("v3") + encode_int(1) + FAMILY


def struct(name: str) -> str:
    field = {"name": name, "type": "long", "nullable": True, "metadata": {}}
    return encode_json({"type": "struct", "fields": [field]})


SCHEMAS = TEXTS.map(struct)
SHORTS = st.integers(-(2**15), 2**15 - 1)
FAMILIES = st.builds(
    ColumnFamilySchema,
    TEXTS,
    SHORTS,
    SCHEMAS,
    SHORTS,
    SCHEMAS,
    st.dictionaries(TEXTS, TEXTS, max_size=2).map(encode_json),
    st.none() | SCHEMAS,
)


@st.composite
def schemas(draw: st.DrawFn) -> StateSchema:
    version = draw(st.sampled_from([1, 2, 3]))
    if version == 3:
        return StateSchema(3, tuple(draw(st.lists(FAMILIES, max_size=3))))
    only = ColumnFamilySchema("default", 0, draw(SCHEMAS), 0, draw(SCHEMAS))
    return StateSchema(version, (only,))


@pytest.mark.parametrize(("data", "version"), [(V1, 1), (V2, 2)])
def test_before_v3_a_store_has_one_family(data: bytes, version: int) -> None:
    schema = decode_state_schema(data)
    assert schema == StateSchema(version, (ColumnFamilySchema("default", 0, KEY, 0, VALUE),))
    assert encode_state_schema(schema) == data


def test_v3_names_its_families() -> None:
    schema = decode_state_schema(V3)
    assert schema == StateSchema(3, (ColumnFamilySchema("total", 0, KEY, 3, VALUE, ENCODER),))
    assert encode_state_schema(schema) == V3


@given(schemas())
def test_both_ways(schema: StateSchema) -> None:
    assert decode_state_schema(encode_state_schema(schema)) == schema


@pytest.mark.parametrize("end", ["", "é", "\U0001f600"])
def test_long_schemas_are_cut_where_spark_cuts_them(end: str) -> None:
    long = struct("a" * 70_000 + end)
    schema = StateSchema(2, (ColumnFamilySchema("default", 0, long, 0, VALUE),))
    data = encode_state_schema(schema)
    assert data[4:10] == encode_int(2) + b"\xff\xff"
    assert data[10 + 65_535 : 12 + 65_535] == encode_text(long[65_535:])[:2]
    assert decode_state_schema(data) == schema


def test_what_spark_can_not_cut_can_not_be_encoded() -> None:
    long = struct("é" * 70_000)
    schema = StateSchema(2, (ColumnFamilySchema("default", 0, long, 0, VALUE),))
    with pytest.raises(ValueError, match="writeUTF"):
        encode_state_schema(schema)


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"", ("HF2115", None, 0)),
        (b"\0", ("HF2115", None, 0)),
        (b"\0\x02", ("HF2115", None, 2)),
        (V2.replace(b"v2", b"x2"), ("HF2115", None, 0)),
        (V2.replace(b"v2", b"v4"), ("HF2103", None, 0)),
        (V2[:-1], ("HF2115", None, len(V2) - len(VALUE))),
        (V2 + b"\0", ("HF2115", None, len(V2))),
        (V1 + b"more", ("HF2115", None, len(V1))),
        (V2[:4] + encode_int(2**31 - 1) + V2[8:], ("HF2115", None, 14 + len(KEY))),
        (V2[:4] + encode_int(-1) + V2[8:], ("HF2115", None, 4)),
        (V2[:4] + encode_int(0) + V2[8:], ("HF2115", None, 4)),
        (V2.replace(b'"struct"', b'"strict"', 1), ("HF2115", None, 4)),
        (V2.replace(b"nullable", b"nullible", 1), ("HF2115", None, 4)),
        (V2.replace(b'"long"', b'"lon\xff"', 1), ("HF2115", None, V2.index(b'"long"') + 4)),
        (V3[:4] + encode_int(2) + V3[8:], ("HF2115", None, len(V3))),
        (V3[:4] + encode_int(-1) + V3[8:], ("HF2115", None, 4)),
        (V3[:4] + encode_int(2**31 - 1) + V3[8:], ("HF2115", None, len(V3))),
        (V3.replace(b"{    }", b"{   {}"), ("HF2115", None, len(V3) - 12)),
        (
            V3.replace(ENCODER.encode(), b"[" + ENCODER[1:].encode()),
            ("HF2115", None, V3.index(ENCODER.encode()) - 6),
        ),
    ],
)
def test_damage_is_refused_where_it_is(data: bytes, answer: tuple[str, int, int]) -> None:
    assert refusal(decode_state_schema, data) == answer
