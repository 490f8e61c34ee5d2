"""Deltas and snapshots of real Spark, whole and damaged: what Spark would read, or an error."""

from __future__ import annotations

import random
import struct
import tracemalloc
from collections import Counter
from collections.abc import Callable

import google_crc32c
import pytest

from holdfast.errors import DecodeError
from holdfast.format.buffers import DELETE, PUT
from holdfast.format.state.changes import read_changes
from holdfast.format.state.codecs import decompressed
from tests.corpus.loading import Sample, corpus
from tests.format.expecting import refusal
from tests.format.statebytes import (
    Record,
    listed,
    lz4,
    lz4_block,
    lzf,
    plainly_read,
    real_state_files,
    snappy,
    untyped,
    zstd,
)

KEY, VALUE = b"k" * 16, b"v" * 24


def delta(data: bytes, **options: bool | int) -> list[Record]:
    return listed(read_changes(data, snapshot=False, **options))  # type: ignore[arg-type]


def snapshot(data: bytes) -> list[Record]:
    return listed(read_changes(data, snapshot=True))


def until_damage(
    data: bytes, chunk_bytes: int = 8 << 20
) -> tuple[list[Record], DecodeError | None]:
    given = []
    try:
        for changes in read_changes(data, snapshot=False, chunk_bytes=chunk_bytes):
            given.append(changes)
    except DecodeError as error:
        return listed(given), error
    return listed(given), None


def summed(record: Record) -> Record:
    """Put a row's checksum where Spark 4.2 does."""
    kind, key, value = record
    total = struct.pack("<I", google_crc32c.value(key + value))
    return (kind, total + key, b"") if kind == DELETE else (kind, key, total + value)


def test_every_real_file_as_a_plain_reader_reads_it() -> None:
    kinds: Counter[tuple[str, int]] = Counter()
    for sample, path, data in real_state_files("delta", "snapshot"):
        row_checksum = sample.name.startswith("row-checksum")
        is_snapshot = path.endswith(".snapshot")
        pieces = read_changes(data, snapshot=is_snapshot, row_checksum=row_checksum)
        expected = plainly_read(b"".join(decompressed(data)))
        if row_checksum:
            expected = [
                (kind, key[4 if kind == DELETE else 0 :], value[4:])
                for kind, key, value in expected
            ]
        found = listed(pieces)
        assert found == expected
        assert all(len(key) % 8 == len(value) % 8 == 0 for _, key, value in found)
        kinds.update((path.rpartition(".")[2], kind) for kind, _, _ in found)
    assert min(kinds["delta", PUT], kinds["delta", DELETE], kinds["snapshot", PUT]) > 20
    assert kinds["snapshot", DELETE] == 0


def told_counts(sample: Sample) -> Counter[int] | None:
    """Count the rows a partition that Spark's own reader gave of the first operator's store."""
    for state in sample.facts["state"] or ():
        if (state.get("operatorId"), state.get("storeName")) == ("0", "default"):
            rows = state.get("rows")
            return None if rows is None else Counter(row["partition_id"] for row in rows)
    return None


def kept_rows(files: dict[str, bytes], partition: int, newest: int) -> int:
    """Count the keys that are left when every delta is applied."""
    kept: set[bytes] = set()
    for version in range(1, newest + 1):
        for kind, key, _ in delta(files[f"state/0/{partition}/{version}.delta"]):
            (kept.add if kind == PUT else kept.discard)(key)
    return len(kept)


def test_deltas_add_up_to_the_rows_that_spark_shows() -> None:
    compared = 0
    for sample in corpus():
        files = sample.files()
        told = told_counts(sample)
        if told is None or "state/0/0/1.delta" not in files or "checksum" in sample.name:
            continue
        newest = max(
            int(path[8:]) for path in files if path.startswith("commits/") and path[8] != "."
        )
        for partition in {int(path.split("/")[2]) for path in files if path.endswith("/1.delta")}:
            assert kept_rows(files, partition, newest + 1) == told[partition], str(sample)
            compared += 1
    assert compared > 100


@pytest.mark.parametrize("codec", [lz4, zstd, snappy, lzf, bytes])
@pytest.mark.parametrize("chunk_bytes", [1, 100, 5_000, 8 << 20])
def test_pieces_of_any_size_give_the_same(
    codec: Callable[[bytes], bytes], chunk_bytes: int
) -> None:
    chance = random.Random(chunk_bytes)
    records: list[Record] = [
        (PUT, chance.randbytes(8 * chance.randrange(5)), chance.randbytes(8 * chance.randrange(9)))
        if chance.random() < 0.8
        else (DELETE, chance.randbytes(16), b"")
        for _ in range(3_000 if chunk_bytes > 1 else 300)
    ]
    assert delta(codec(untyped(records)), chunk_bytes=chunk_bytes) == records


def test_a_record_longer_than_a_piece() -> None:
    records = [(PUT, KEY, bytes(100_000)), (PUT, bytes(70_000), VALUE), (DELETE, KEY, b"")] * 2
    assert delta(lz4(untyped(records)), chunk_bytes=1_000) == records


def test_a_key_without_columns_and_a_value_without_columns() -> None:
    records = [(PUT, b"", b""), (PUT, b"", VALUE), (DELETE, b"", b"")]
    assert delta(lz4(untyped(records))) == records
    assert delta(lz4(untyped([]))) == []


def test_bytes_that_spark_before_2_3_wrote_too_many_are_dropped() -> None:
    records = [(PUT, KEY, VALUE + b"\0\0\0\0"), (PUT, KEY, VALUE)] * 200
    assert delta(lz4(untyped(records))) == [(PUT, KEY, VALUE)] * 400


def test_any_negative_length_deletes_in_a_delta_and_none_may_in_a_snapshot() -> None:
    data = untyped([(PUT, KEY, VALUE)], end=False) + struct.pack(">i", 16) + KEY
    for length in (-1, -2, -(2**31)):
        whole = data + struct.pack(">i", length) + b"\xff" * 4
        assert delta(lz4(whole)) == [(PUT, KEY, VALUE), (DELETE, KEY, b"")]
        assert refusal(snapshot, lz4(whole)) == ("HF2704", None, len(data))


@pytest.mark.parametrize("length", [-2, -(2**31), 2**28 + 1, 2**31 - 1])
def test_a_key_that_lies_about_its_length(length: int) -> None:
    start = untyped([(PUT, KEY, VALUE)] * 3, end=False)
    data = start + struct.pack(">i", length) + KEY
    assert refusal(delta, lz4(data)) == ("HF2702", None, len(start))


@pytest.mark.parametrize("length", [2**28 + 1, 2**31 - 1])
def test_a_value_that_lies_about_its_length(length: int) -> None:
    start = untyped([(PUT, KEY, VALUE)] * 3, end=False) + struct.pack(">i", 16) + KEY
    data = start + struct.pack(">i", length) + VALUE
    assert refusal(delta, lz4(data)) == ("HF2702", None, len(start))


def test_a_file_without_an_end_marker() -> None:
    data = untyped([(PUT, KEY, VALUE)] * 3, end=False)
    assert refusal(delta, lz4(data)) == ("HF2703", None, len(data))
    assert refusal(delta, b"") == ("HF2703", None, 0)


@pytest.mark.parametrize("chunk_bytes", [1, 8 << 20])
def test_what_follows_the_end_marker_is_told_after_the_changes(chunk_bytes: int) -> None:
    data = untyped([(PUT, KEY, VALUE)])
    for file in (lz4(data + b"x"), lz4(data)[:-21] + lz4_block(b"x"), lz4(data) + lz4(b"x")):
        given, error = until_damage(file, chunk_bytes)
        assert given == [(PUT, KEY, VALUE)]
        assert error is not None and error.overlooked
        assert (error.code.number, error.byte) == ("HF2706", len(data))


@pytest.mark.parametrize("chunk_bytes", [1, 8 << 20])
def test_a_missing_last_block_is_overlooked_unless_the_marker_is_missing_too(
    chunk_bytes: int,
) -> None:
    whole = lz4(untyped([(PUT, KEY, VALUE)]))
    for cut in range(1, 22):
        given, error = until_damage(whole[:-cut], chunk_bytes)
        assert given == [(PUT, KEY, VALUE)]
        assert error is not None and error.overlooked and error.code.number == "HF2701"
    given, error = until_damage(lz4(untyped([(PUT, KEY, VALUE)], end=False))[:-21], chunk_bytes)
    assert given == [(PUT, KEY, VALUE)]
    assert error is not None and not error.overlooked and error.code.number == "HF2701"


def test_the_empty_block_that_ends_zstd_is_overlooked_as_well() -> None:
    """Spark flushes before it closes, so that the last three bytes hold no rows."""
    files = [
        data
        for sample, _, data in real_state_files("delta")
        if sample.name == "aggregation-hdfs-zstd"
    ]
    for data in files[:10]:
        given, error = until_damage(data[:-3])
        assert given == delta(data)
        assert error is not None and error.overlooked
        _, error = until_damage(data[:-4])
        assert error is not None and not error.overlooked


@pytest.mark.parametrize("codec", ["lz4", "zstd", "snappy", "lzf"])
def test_every_truncation_of_real_files(codec: str) -> None:
    """Records of the beginning, and never all of them without a word."""
    files = {
        data
        for sample, _, data in real_state_files("delta", "snapshot")
        if sample.name == f"aggregation-hdfs-{codec}" and len(data) < 400
    }
    for data in sorted(files)[:12]:
        expected = delta(data)
        for length in range(len(data)):
            given, error = until_damage(data[:length])
            assert error is not None
            assert given == expected[: len(given)]
            assert given == expected or not error.overlooked
            assert error.byte is not None and error.byte >= 0


@pytest.mark.parametrize("seed", range(8))
def test_any_damage_to_real_files(seed: int) -> None:
    """A thousand damages a seed: an error with its byte, or what a plain reader reads as well."""
    chance = random.Random(seed)
    files = sorted({data for _, _, data in real_state_files("delta", "snapshot")})
    accepted = 0
    for _ in range(1_000):
        file = chance.choice(files)
        data = damaged(chance, file)
        given, error = until_damage(data)
        if error is None or error.overlooked:
            accepted += data != file
            assert given == dropped(plainly_read(plain_beginning(data)))
        else:
            assert error.code.number in {"HF2701", "HF2702", "HF2703"}
            assert error.byte is not None and error.byte >= 0
    assert accepted


def damaged(chance: random.Random, data: bytes) -> bytes:
    """Damage a file, or what is inside of it before it is compressed anew."""
    inside = chance.random() < 0.5
    changed = bytearray(b"".join(decompressed(data)) if inside else data)
    for _ in range(chance.randrange(1, 3)):
        place = chance.randrange(len(changed) + 1)
        act = chance.randrange(5)
        if act == 0 and place < len(changed):
            changed[place] ^= 1 << chance.randrange(8)
        elif act == 1:
            del changed[place:]
        elif act == 2:
            del changed[place : place + chance.randrange(9)]
        elif act == 3:
            changed[place:place] = chance.randbytes(chance.randrange(9))
        else:
            changed[place : place + 4] = chance.choice([b"\xff" * 4, b"\x7f\xff\xff\xff", bytes(4)])
    return chance.choice([lz4, snappy, zstd, lzf])(bytes(changed)) if inside else bytes(changed)


def plain_beginning(data: bytes) -> bytes:
    pieces = []
    try:
        for piece in decompressed(data):
            pieces.append(piece)
    except DecodeError:
        return b"".join(pieces)
    return b"".join(pieces)


def dropped(records: list[Record]) -> list[Record]:
    return [(kind, key, value[: len(value) // 8 * 8]) for kind, key, value in records]


def test_row_checksums_are_verified_and_taken_off() -> None:
    records = [(PUT, KEY, VALUE), (DELETE, KEY, b""), (PUT, b"", b"")] * 50
    data = untyped(summed(record) for record in records)
    assert delta(lz4(data), row_checksum=True) == records


def test_a_row_that_does_not_match_its_checksum() -> None:
    first = untyped([summed((PUT, KEY, VALUE))], end=False)
    for record in ((PUT, KEY, VALUE), (DELETE, KEY, b"")):
        data = bytearray(first + untyped([summed(record)]))
        place = len(first) + 4 + (4 if record[0] == DELETE else 0)
        data[place] ^= 1
        code = refusal(lambda file: delta(file, row_checksum=True), lz4(bytes(data)))
        assert code == ("HF2705", None, place)


def test_a_row_without_room_for_a_checksum() -> None:
    for record, byte in (((PUT, KEY, b"abc"), 24), ((DELETE, b"abc", b""), 4)):
        data = lz4(untyped([record]))
        assert refusal(lambda file: delta(file, row_checksum=True), data) == ("HF2705", None, byte)


def test_memory_stays_at_a_piece_and_a_record() -> None:
    record = untyped([(PUT, KEY, bytes(200))], end=False)
    data = lz4(record * 200_000 + b"\xff" * 4)
    tracemalloc.start()
    count = sum(len(changes) for changes in read_changes(data, snapshot=False, chunk_bytes=1 << 20))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 200_000
    assert peak < 8 << 20


def test_a_bomb_behind_a_long_key_is_not_unpacked() -> None:
    data = lz4(struct.pack(">i", 2**28 + 1) + bytes(60_000_000))
    tracemalloc.start()
    assert refusal(delta, data)[0] == "HF2702"
    assert tracemalloc.get_traced_memory()[1] < 24 << 20
    tracemalloc.stop()
