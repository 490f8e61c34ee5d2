"""Operator metadata of both versions survives both ways; damage is refused where it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.format.state.operators import (
    OperatorMetadata,
    StoreInfo,
    decode_operator,
    encode_operator,
)
from tests.format.expecting import refusal
from tests.format.strategies import INT32, INT64, JSON, TEXTS, extras

INFO = b'"operatorInfo":{"operatorId":0,"operatorName":"dedupe"}'
STORE = b'{"storeName":"default","numColsPrefixKey":1,"numPartitions":2}'
V1 = b"v1\n{" + INFO + b',"stateStoreInfo":[' + STORE + b"]}"
V2_STORE = STORE[:-1] + b',"stateSchemaFilePaths":["file:/a","file:/b"]}'
PROPERTIES = b'"operatorPropertiesJson":"{\\"timeMode\\":\\"NoTime\\"}"'
V2 = b"v2\n{" + INFO + b',"stateStoreInfo":[' + V2_STORE + b"]," + PROPERTIES + b"}"
STORE_KEYS = (
    "storeName",
    "numColsPrefixKey",
    "numPartitions",
    "stateSchemaFilePath",
    "stateSchemaFilePaths",
)
KEYS = ("operatorInfo", "stateStoreInfo", "operatorPropertiesJson")


@st.composite
def stores(draw: st.DrawFn, version: int) -> StoreInfo:
    single = version == 2 and draw(st.booleans())
    paths = draw(st.lists(TEXTS, max_size=3)) if version == 2 else []
    return StoreInfo(
        draw(TEXTS),
        draw(INT32),
        draw(INT32),
        (draw(TEXTS),) if single else tuple(paths),
        draw(extras(*STORE_KEYS)),
        single,
    )


@st.composite
def entries(draw: st.DrawFn) -> OperatorMetadata:
    version = draw(st.sampled_from([1, 2]))
    properties = st.none() | st.dictionaries(TEXTS, JSON, max_size=3)
    return OperatorMetadata(
        version,
        draw(INT64),
        draw(TEXTS),
        tuple(draw(st.lists(stores(version), max_size=3))),
        draw(properties) if version == 2 else None,
        draw(extras(*KEYS)),
        draw(extras("operatorId", "operatorName")),
    )


def test_v1() -> None:
    entry = decode_operator(V1)
    assert entry == OperatorMetadata(1, 0, "dedupe", (StoreInfo("default", 1, 2),))
    assert encode_operator(entry) == V1


def test_v2() -> None:
    entry = decode_operator(V2)
    assert entry.stores[0].schema_paths == ("file:/a", "file:/b")
    assert entry.properties == {"timeMode": "NoTime"}
    assert encode_operator(entry) == V2


def test_a_preview_names_one_path() -> None:
    data = V2.replace(b'Paths":["file:/a","file:/b"]', b'Path":"file:/a"')
    entry = decode_operator(data)
    assert entry.stores[0].schema_paths == ("file:/a",)
    assert encode_operator(entry) == data


def test_no_properties_are_an_empty_text() -> None:
    data = V2.replace(PROPERTIES, b'"operatorPropertiesJson":""')
    assert decode_operator(data).properties is None
    assert encode_operator(decode_operator(data)) == data


@given(entries())
def test_both_ways(entry: OperatorMetadata) -> None:
    assert decode_operator(encode_operator(entry)) == entry


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"", ("HF2101", None, 0)),
        (b"v1", ("HF2106", 2, 2)),
        (V1.replace(b"v1", b"v3"), ("HF2103", 1, 0)),
        (V1[:-1], ("HF2105", 2, len(V1) - 1)),
        (V1 + b"\n{}", ("HF2110", 2, len(V1) + 1)),
        (V1.replace(b"operatorInfo", b"operatorinfo"), ("HF2106", 2, 3)),
        (V1.replace(b'"operatorId":0', b'"operatorId":"0"'), ("HF2106", 2, 3)),
        (V1.replace(STORE, b"1"), ("HF2106", 2, 3)),
        (V1.replace(b'"numPartitions":2', b'"numPartitions":2147483648'), ("HF2107", 2, 3)),
        (V2.replace(V2_STORE, STORE), ("HF2106", 2, 3)),
        (V2.replace(b'"file:/a"', b"1"), ("HF2106", 2, 3)),
        (V2.replace(b"," + PROPERTIES, b""), ("HF2106", 2, 3)),
        (V2.replace(b'NoTime\\"}', b'NoTime\\"'), ("HF2105", 2, 3)),
    ],
)
def test_damage_is_refused_where_it_is(data: bytes, answer: tuple[str, int, int]) -> None:
    assert refusal(decode_operator, data) == answer
