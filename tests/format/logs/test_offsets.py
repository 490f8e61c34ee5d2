"""Offsets entries of every version survive both ways; damage is refused where it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.format.logs.offsets import (
    OffsetsEntry,
    OffsetsMetadata,
    SourceOffset,
    decode_offsets,
    encode_offsets,
)
from holdfast.format.strictjson import encode_json
from tests.format.expecting import refusal
from tests.format.strategies import INT64, JSON, TEXTS, extras

METADATA = (
    b'{"batchWatermarkMs":5,"batchTimestampMs":9,"conf":{"spark.sql.shuffle.partitions":"2"}}'
)
V1 = b"v1\n" + METADATA + b'\n{"logOffset":3}\n-'
V2_METADATA = METADATA[:-1] + b',"sourceMetadataInfo":{}}'
V2 = b"v2\n" + V2_METADATA + b'\nclicks:{"logOffset":3}\n1:-'
KEYS = ("batchWatermarkMs", "batchTimestampMs", "conf", "sourceMetadataInfo", "controlBatchInfo")

NAMES = st.text(st.characters(codec="utf-8", exclude_characters=":\n\r\0"), max_size=10)
OFFSETS = st.none() | JSON.filter(lambda value: value is not None).map(encode_json)
OBJECTS = st.dictionaries(TEXTS, JSON, max_size=2)


def metadata(version: int) -> st.SearchStrategy[OffsetsMetadata]:
    later = st.none() | OBJECTS if version == 2 else st.none()
    settings = st.dictionaries(TEXTS, TEXTS, max_size=3)
    return st.builds(OffsetsMetadata, INT64, INT64, settings, later, later, extras(*KEYS))


@st.composite
def entries(draw: st.DrawFn) -> OffsetsEntry:
    version = draw(st.sampled_from([1, 2]))
    described = draw(metadata(version) | st.none() if version == 1 else metadata(version))
    texts = draw(st.lists(OFFSETS, max_size=3))
    names = [str(index) for index in range(len(texts))]
    if version == 2:
        size = len(texts)
        names = draw(st.lists(NAMES, min_size=size, max_size=size, unique=True))
    sources = tuple(map(SourceOffset, names, texts))
    # Without sources an empty metadata line is only a line when a line feed ends it.
    final_newline = draw(st.booleans()) or (described is None and not sources)
    return OffsetsEntry(version, described, sources, final_newline)


def test_v1() -> None:
    entry = decode_offsets(V1)
    assert entry == OffsetsEntry(
        1,
        OffsetsMetadata(5, 9, {"spark.sql.shuffle.partitions": "2"}),
        (SourceOffset("0", '{"logOffset":3}'), SourceOffset("1", None)),
    )
    assert encode_offsets(entry) == V1


def test_v2() -> None:
    entry = decode_offsets(V2)
    assert entry.metadata is not None and entry.metadata.source_metadata == {}
    assert entry.sources == (SourceOffset("clicks", '{"logOffset":3}'), SourceOffset("1", None))
    assert encode_offsets(entry) == V2


def test_a_control_batch_of_v2() -> None:
    data = V2.replace(b'"sourceMetadataInfo":{}', b'"controlBatchInfo":{"operationType":"x"}')
    entry = decode_offsets(data)
    assert entry.metadata is not None and entry.metadata.control == {"operationType": "x"}
    assert encode_offsets(entry) == data


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b'v1\n\n{"0":{"value":1,"runTimeMs":2}}', id="continuous: no metadata"),
        pytest.param(b'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1}\n0', id="2.1: no conf"),
        pytest.param(V1 + b"\n", id="4.0 preview: a line feed at the end"),
        pytest.param(b"v1\n" + METADATA, id="no sources"),
        pytest.param(V1[:-1] + b'{"a": 1.50}', id="an offset keeps its spelling"),
        pytest.param(V1.replace(b'"2"}}', b'"2"},"later":[1]}'), id="a field of a later Spark"),
    ],
)
def test_what_old_and_later_sparks_write_comes_out_as_it_went_in(data: bytes) -> None:
    assert encode_offsets(decode_offsets(data)) == data


@given(entries())
def test_both_ways(entry: OffsetsEntry) -> None:
    assert decode_offsets(encode_offsets(entry)) == entry


def test_missing_clocks_are_zero_as_in_spark() -> None:
    assert decode_offsets(b"v1\n{}").metadata == OffsetsMetadata(0, 0, {})


def test_an_empty_metadata_line_is_none_not_zeros() -> None:
    assert decode_offsets(b"v1\n\n5").metadata is None
    assert decode_offsets(b"v1\n \t\n5").metadata is None


AT_SOURCES = len(b"v1\n" + METADATA + b"\n")


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"", ("HF2101", None, 0)),
        (b"v1", ("HF2106", 2, 2)),
        (b"v1\n", ("HF2106", 2, 3)),
        (b" " + V1, ("HF2102", 1, 0)),
        (V1.replace(b"v1", b"v0"), ("HF2102", 1, 0)),
        (V1.replace(b"v1", b"v3"), ("HF2103", 1, 0)),
        (V1.replace(b"conf", b"con\xff"), ("HF2104", 2, V1.index(b"conf") + 3)),
        (V1[:20], ("HF2105", 2, 4)),
        (V1.replace(b":5,", b":5.5,"), ("HF2106", 2, 3)),
        (V1.replace(b":9,", b":9223372036854775808,"), ("HF2107", 2, 3)),
        (V1.replace(b'"2"', b"2"), ("HF2106", 2, 3)),
        (V1.replace(b'{"spark.sql.shuffle.partitions":"2"}', b"[]"), ("HF2106", 2, 3)),
        (V1.replace(b"batchTimestampMs", b"batchWatermarkMs"), ("HF2116", 2, 3)),
        (V1[:AT_SOURCES] + b'{"logOffset":3', ("HF2105", 3, AT_SOURCES + 14)),
        (V1[:AT_SOURCES] + b"\n5", ("HF2105", 3, AT_SOURCES)),
        (V1[:AT_SOURCES] + b"null", ("HF2106", 3, AT_SOURCES)),
        (V1[:AT_SOURCES] + b"offset", ("HF2105", 3, AT_SOURCES)),
        (V1[:AT_SOURCES] + b"3\nNaN", ("HF2105", 4, AT_SOURCES + 2)),
        (V1[:AT_SOURCES] + b'{"a":1}{', ("HF2110", 3, AT_SOURCES + 7)),
        (b"v2\n\n0:1", ("HF2106", 2, 3)),
        (b"v2\n{}\n5", ("HF2105", 3, 6)),
        (b"v2\n{}\na:1\nb:{", ("HF2105", 4, 13)),
        (b"v2\n{}\na:1\na:2", ("HF2110", 4, None)),
        (b'v2\n{"sourceMetadataInfo":1}\n', ("HF2106", 2, 3)),
        (V1.replace(b"\n", b"\r\n"), ("HF2117", 1, 2)),
    ],
)
def test_damage_is_refused_where_it_is(data: bytes, answer: tuple[str, int, int]) -> None:
    assert refusal(decode_offsets, data) == answer
