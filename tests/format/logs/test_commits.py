"""Commits of every version survive both ways; damage is refused where it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import DecodeError
from holdfast.format.logs.commits import CommitEntry, SinkCommit, decode_commit, encode_commit
from tests.format.expecting import refusal
from tests.format.strategies import INT64, TEXTS, extras

V1 = b'v1\n{"nextBatchWatermarkMs":7}'
V2 = b'v2\n{"nextBatchWatermarkMs":7,"stateUniqueIds":{"0":[["a","b"],["c","d"]],"1":[]}}'
SINK = b'{"sinkName":"s","commitOffset":"-","providerName":"p","apiVersion":"DSv2","isActive":true}'
V3 = b'v3\n{"nextBatchWatermarkMs":7,"sinkMetadataMap":{"s":' + SINK + b"}}"
KEYS = ("nextBatchWatermarkMs", "stateUniqueIds", "sinkMetadataMap")
SINK_KEYS = ("sinkName", "commitOffset", "providerName", "apiVersion", "isActive")

STORE_IDS = st.lists(TEXTS, max_size=2).map(tuple)
STATE_IDS = st.dictionaries(
    st.integers(0, 10**18 - 1), st.lists(STORE_IDS, max_size=3).map(tuple), max_size=2
)


@st.composite
def entries(draw: st.DrawFn) -> CommitEntry:
    version = draw(st.sampled_from([1, 2, 3]))
    names = draw(st.lists(TEXTS, min_size=1, max_size=3, unique=True))
    sinks = {
        name: draw(
            st.builds(
                SinkCommit, TEXTS, TEXTS, TEXTS, TEXTS, st.just(index == 0), extras(*SINK_KEYS)
            )
        )
        for index, name in enumerate(names)
    }
    recorded = draw(st.booleans())
    return CommitEntry(
        version,
        draw(INT64) if recorded else 0,
        draw(st.none() | STATE_IDS),
        sinks if version == 3 else None,
        draw(extras(*KEYS)),
        recorded,
    )


def test_v1() -> None:
    assert decode_commit(V1) == CommitEntry(1, 7)


def test_v2_names_the_files_of_every_store() -> None:
    entry = decode_commit(V2)
    assert entry == CommitEntry(2, 7, {0: (("a", "b"), ("c", "d")), 1: ()})


def test_v3_names_its_sinks() -> None:
    entry = decode_commit(V3)
    assert entry == CommitEntry(3, 7, sinks={"s": SinkCommit("s", "-", "p", "DSv2", True)})


@pytest.mark.parametrize(
    "data",
    [
        V1,
        V2,
        V3,
        pytest.param(b"v1\n{}", id="2.3: nothing recorded"),
        pytest.param(V1[:-1] + b',"stateUniqueIds":{}}', id="4.0 preview: empty ids in v1"),
        pytest.param(V1[:-1] + b',"later":{"a":[null]}}', id="a field of a later Spark"),
    ],
)
def test_what_any_spark_writes_comes_out_as_it_went_in(data: bytes) -> None:
    assert encode_commit(decode_commit(data)) == data


@given(entries())
def test_both_ways(entry: CommitEntry) -> None:
    assert decode_commit(encode_commit(entry)) == entry


def test_a_watermark_that_was_not_recorded_is_told_from_zero() -> None:
    assert decode_commit(b"v1\n{}") == CommitEntry(1, 0, watermark_recorded=False)
    assert decode_commit(b"v1") == decode_commit(b"v1\n") == decode_commit(b"v1\n{}")
    assert decode_commit(b'v1\n{"nextBatchWatermarkMs":0}').watermark_recorded


def test_spark_trims_the_version_line_of_a_commit() -> None:
    assert decode_commit(b" " + V1) == decode_commit(V1)


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"", ("HF2101", None, 0)),
        (V1[1:], ("HF2102", 1, 0)),
        (V1.replace(b"v1", b"v4"), ("HF2103", 1, 0)),
        (V1[:-1], ("HF2105", 2, len(V1) - 1)),
        (b"v1\n\n", ("HF2105", 2, 3)),
        (V1 + b"}", ("HF2110", 2, len(V1))),
        (V1 + b"\n{}", ("HF2110", 3, len(V1) + 1)),
        (V1.replace(b"7", b'"7"'), ("HF2106", 2, 3)),
        (V1.replace(b"7", b"7" * 20), ("HF2107", 2, 3)),
        (V2.replace(b'"0"', b'"zero"'), ("HF2106", 2, 3)),
        (V2.replace(b'"0"', b'"00"'), ("HF2106", 2, 3)),
        (V2.replace(b'"0"', b'"' + b"9" * 5000 + b'"'), ("HF2106", 2, 3)),
        (V2.replace(b'"1":[]', b'"1":{}'), ("HF2106", 2, 3)),
        (V2.replace(b'["a","b"]', b'"a"'), ("HF2106", 2, 3)),
        (V2.replace(b'"a"', b"null"), ("HF2106", 2, 3)),
        (V2.replace(b'"1"', b'"0"'), ("HF2116", 2, 3)),
        (V3.replace(SINK, b"1"), ("HF2106", 2, 3)),
        (V3.replace(b"true", b"false"), ("HF2106", 2, 3)),
        (V3.replace(b'"s":' + SINK, b""), ("HF2106", 2, 3)),
        (V3.replace(b"apiVersion", b"apiversion"), ("HF2106", 2, 3)),
        (V1.replace(b"v1", b"v3"), ("HF2106", 2, 3)),
    ],
)
def test_damage_is_refused_where_it_is(data: bytes, answer: tuple[str, int, int]) -> None:
    assert refusal(decode_commit, data) == answer


def test_spark_overlooks_what_follows_the_second_line() -> None:
    with pytest.raises(DecodeError) as caught:
        decode_commit(V1 + b"\n{}")
    assert caught.value.overlooked
