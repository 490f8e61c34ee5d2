"""Logs of files survive both ways, and compact when and as Spark compacts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.format.logs.filelog import (
    FileLog,
    SinkFile,
    SourceFile,
    compacted_ids,
    decode_sink_log,
    decode_source_log,
    effective_interval,
    encode_sink_log,
    encode_source_log,
    is_compaction,
    log_id_of,
    log_name,
    needed_ids,
)
from tests.format.expecting import refusal
from tests.format.strategies import INT32, INT64, TEXTS, extras

SOURCE = b'v1\n{"path":"file:///in/a%20b.json","timestamp":5,"batchId":2}'
SINK = (
    b'v1\n{"path":"file:///out/a","size":10,"isDir":false,"modificationTime":5,'
    b'"blockReplication":1,"blockSize":33554432,"action":"add"}'
)
SOURCE_KEYS = ("path", "timestamp", "batchId")
SINK_KEYS = (
    "path",
    "size",
    "isDir",
    "modificationTime",
    "blockReplication",
    "blockSize",
    "action",
)
SOURCE_FILES = st.builds(SourceFile, TEXTS, INT64, INT64, extras(*SOURCE_KEYS))
SINK_FILES = st.builds(
    SinkFile, TEXTS, INT64, st.booleans(), INT64, INT32, INT64, TEXTS, extras(*SINK_KEYS)
)


def test_real_lines() -> None:
    (seen,) = decode_source_log(SOURCE).items
    assert seen == SourceFile("file:///in/a%20b.json", 5, 2)
    (written,) = decode_sink_log(SINK).items
    assert written == SinkFile("file:///out/a", 10, False, 5, 1, 33554432, "add")
    assert encode_source_log(decode_source_log(SOURCE)) == SOURCE
    assert encode_sink_log(decode_sink_log(SINK)) == SINK


def test_a_log_may_be_empty() -> None:
    log = decode_sink_log(b"v1")
    assert (log.version, log.items) == (1, ())
    assert encode_sink_log(log) == b"v1"


@given(st.lists(SOURCE_FILES, max_size=3), st.booleans())
def test_source_logs_both_ways(items: list[SourceFile], final_newline: bool) -> None:
    log = FileLog(1, tuple(items), final_newline)
    assert decode_source_log(encode_source_log(log)) == log


@given(st.lists(SINK_FILES, max_size=3), st.booleans())
def test_sink_logs_both_ways(items: list[SinkFile], final_newline: bool) -> None:
    log = FileLog(1, tuple(items), final_newline)
    assert decode_sink_log(encode_sink_log(log)) == log


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"", ("HF2101", None, 0)),
        (b"1\n", ("HF2102", 1, 0)),
        (SOURCE.replace(b"v1", b"v2"), ("HF2103", 1, 0)),
        (SOURCE[:-1], ("HF2105", 2, len(SOURCE) - 1)),
        (SOURCE + SOURCE[2:-1], ("HF2105", 3, 2 * len(SOURCE) - 3)),
        (SOURCE + b"\n\n" + SOURCE, ("HF2105", 3, len(SOURCE) + 1)),
        (SOURCE.replace(b"path", b"Path"), ("HF2106", 2, 3)),
        (SOURCE.replace(b"5", b'"5"'), ("HF2106", 2, 3)),
        (SOURCE.replace(b"5", b"5" * 20), ("HF2107", 2, 3)),
        ('v1\n{"path":"é","timestamp":1}\n1'.encode(), ("HF2106", 3, 31)),
    ],
)
def test_damage_of_a_source_log_is_refused_where_it_is(
    data: bytes, answer: tuple[str, int, int]
) -> None:
    assert refusal(decode_source_log, data) == answer


@pytest.mark.parametrize("key", SINK_KEYS)
def test_every_field_of_a_sink_log_is_needed(key: str) -> None:
    assert refusal(decode_sink_log, SINK.replace(f'"{key}"'.encode(), b'"x"'))[0] == "HF2106"


def test_a_replication_has_32_bits() -> None:
    too_many = SINK.replace(b'"blockReplication":1', b'"blockReplication":2147483648')
    assert refusal(decode_sink_log, too_many) == ("HF2107", 2, 3)


def test_the_source_log_s_own_id_may_be_missing() -> None:
    (seen,) = decode_source_log(b'v1\n{"path":"a","timestamp":1}').items
    assert seen.log_offset == -1


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("9", (9, False)),
        ("9.compact", (9, True)),
        ("9.compact.compact", None),
        (".compact", None),
        (".9.compact.crc", None),
        ("compact", None),
    ],
)
def test_names(name: str, answer: tuple[int, bool] | None) -> None:
    assert log_id_of(name) == answer


@given(st.integers(0, 10**6), st.integers(1, 50))
def test_a_name_leads_back_to_its_id(log_id: int, interval: int) -> None:
    assert log_id_of(log_name(log_id, interval)) == (log_id, is_compaction(log_id, interval))


@pytest.mark.parametrize(
    ("compact_ids", "default", "interval"),
    [
        ((), 10, 10),
        ((9,), 10, 10),
        ((2,), 10, 3),
        ((11,), 5, 6),
        ((11,), 2, 2),
        ((11,), 6, 12),
        ((12,), 5, 13),
        ((99,), 7, 10),
        ((96,), 3, 97),
        ((9, 19, 29), 3, 10),
        ((29, 9, 14), 10, 15),
        ((2**40,), 10, 2**40 + 1),
    ],
)
def test_the_interval_follows_the_compact_files(
    compact_ids: tuple[int, ...], default: int, interval: int
) -> None:
    assert effective_interval(compact_ids, default) == interval


@given(st.integers(0, 3_000), st.integers(1, 60))
def test_one_compact_file_decides_as_in_spark(compact_id: int, default: int) -> None:
    interval = effective_interval([compact_id], default)
    assert is_compaction(compact_id, interval)
    smaller = [n for n in range(default, interval) if (compact_id + 1) % n == 0]
    assert not smaller or default >= (compact_id + 1) // 2


@pytest.mark.parametrize(
    ("batch_id", "interval", "ids"),
    [(0, 10, [0]), (8, 10, list(range(9))), (9, 10, [9]), (12, 10, [9, 10, 11, 12]), (5, 3, [5])],
)
def test_a_reader_needs_the_last_compact_file_and_what_follows(
    batch_id: int, interval: int, ids: list[int]
) -> None:
    assert list(needed_ids(batch_id, interval)) == ids


def test_a_compaction_reads_the_one_before() -> None:
    assert list(compacted_ids(2, 3)) == [0, 1]
    assert list(compacted_ids(5, 3)) == [2, 3, 4]
