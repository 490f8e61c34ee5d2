"""Changelogs of all four formats: real ones as Spark wrote them, and damaged ones."""

from __future__ import annotations

import json
import random
import struct
from collections import Counter

import google_crc32c
import pytest

from holdfast.errors import DecodeError
from holdfast.format.buffers import DELETE, DELETE_RANGE, MERGE, PUT
from holdfast.format.state.changes import LineageItem, read_changelog
from holdfast.format.state.codecs import decompressed
from holdfast.format.state.javadata import encode_text
from tests.format.expecting import refusal
from tests.format.statebytes import (
    Record,
    listed,
    lz4,
    plainly_read,
    real_state_files,
    snappy,
    typed,
    untyped,
    zstd,
)

LINEAGE = '[{"version":1,"checkpointUniqueId":"a"},{"version":2,"checkpointUniqueId":"b"}]'
HEADERS = {
    1: b"",
    2: encode_text("v2"),
    3: encode_text("v3") + encode_text(LINEAGE),
    4: encode_text("v4") + encode_text(LINEAGE),
}
RECORDS = {
    version: [(PUT, b"\0key", b"\0value"), (DELETE, b"\0key", b""), (PUT, b"", b"")]
    + ([(MERGE, b"\0key", b"more"), (DELETE_RANGE, b"a", b"b")] if version in (2, 4) else [])
    for version in HEADERS
}


def changelog(version: int, records: list[Record]) -> bytes:
    return HEADERS[version] + (typed if version in (2, 4) else untyped)(records)


def changes(data: bytes, *, row_checksum: bool = False, chunk_bytes: int = 8 << 20) -> list[Record]:
    log = read_changelog(data, row_checksum=row_checksum, chunk_bytes=chunk_bytes)
    return listed(log.changes)


def checked(data: bytes) -> list[Record]:
    return changes(data, row_checksum=True)


def until_damage(data: bytes) -> tuple[list[Record], DecodeError | None]:
    given = []
    try:
        for piece in read_changelog(data).changes:
            given.append(piece)
    except DecodeError as error:
        return listed(given), error
    return listed(given), None


def header_length(version: int, plain: bytes) -> int:
    if version == 1:
        return 0
    return 4 if version == 2 else 6 + int.from_bytes(plain[4:6], "big")


def test_every_real_changelog_as_a_plain_reader_reads_it() -> None:
    met: Counter[tuple[int, int]] = Counter()
    for sample, path, data in real_state_files("changelog"):
        log = read_changelog(data)
        plain = b"".join(decompressed(data))
        records = plain[header_length(log.version, plain) :]
        found = listed(log.changes)
        assert found == plainly_read(records, has_kinds=log.version in (2, 4)), (sample, path)
        met.update((log.version, kind) for kind, _, _ in found)
        uses_ids = "_" in path.rpartition("/")[2]
        assert (log.version in (3, 4)) == uses_ids
    assert {version for version, _ in met} == {1, 2, 3, 4}
    assert {kind for _, kind in met} == {PUT, DELETE, MERGE}


def test_the_lineage_names_files_that_are_there() -> None:
    """Each item is the version and the id of a changelog or a snapshot that Spark wrote before."""
    named = 0
    paths = {(str(sample), path) for sample, path, _ in real_state_files("changelog")}
    for sample, path, data in real_state_files("changelog"):
        folder, _, name = path.rpartition("/")
        version = int(name.partition("_")[0].partition(".")[0])
        lineage = read_changelog(data).lineage
        assert [item.version for item in lineage] == list(range(version - len(lineage), version)), (
            path
        )
        for item in lineage:
            told = (str(sample), f"{folder}/{item.version}_{item.unique_id}.changelog")
            named += told in paths
    assert named > 100


@pytest.mark.parametrize("version", HEADERS)
@pytest.mark.parametrize("codec", [lz4, snappy, zstd, bytes])
@pytest.mark.parametrize("chunk_bytes", [1, 8 << 20])
def test_every_format(version: int, codec: type[bytes], chunk_bytes: int) -> None:
    records = RECORDS[version] * 300
    data = codec(changelog(version, records))
    assert changes(data, chunk_bytes=chunk_bytes) == records
    log = read_changelog(data)
    assert log.version == version
    told = (LineageItem(1, "a"), LineageItem(2, "b")) if version in (3, 4) else ()
    assert log.lineage == told


def test_a_first_key_that_resembles_a_version_is_of_format_1() -> None:
    """As in Spark: two bytes of which the first is a v, and the second is no digit."""
    records = [(PUT, bytes(0x00027629), b"value")]
    assert changes(lz4(untyped(records))) == records


@pytest.mark.parametrize("digit", "015679")
def test_a_version_that_no_spark_writes(digit: str) -> None:
    assert refusal(changes, lz4(encode_text(f"v{digit}") + b"\0")) == ("HF2707", None, 2)


@pytest.mark.parametrize(
    ("lineage", "byte"),
    [
        ("", 6),
        ("[", 7),
        ("{}", 6),
        ("[1]", 6),
        ('[{"version":1}]', 6),
        ('[{"version":"1","checkpointUniqueId":"a"}]', 6),
        ('[{"version":1,"checkpointUniqueId":null}]', 6),
        ("[]x", 8),
    ],
)
def test_a_lineage_that_is_none(lineage: str, byte: int) -> None:
    data = encode_text("v3") + encode_text(lineage) + b"\xff" * 4
    assert refusal(changes, lz4(data)) == ("HF2707", None, byte)


def test_a_header_that_is_cut_off() -> None:
    for length in range(4, len(HEADERS[3])):
        code, _, byte = refusal(changes, lz4(HEADERS[3][:length]))
        assert code == "HF2707"
        assert byte is not None and byte <= length
    assert refusal(changes, lz4(HEADERS[3], block=20)[:-30])[0] == "HF2701"


def test_the_longest_lineage() -> None:
    items = [{"version": version, "checkpointUniqueId": "i" * 36} for version in range(800)]
    text = json.dumps(items, separators=(",", ":"))
    data = encode_text("v4") + encode_text(text) + typed(RECORDS[4])
    assert len(read_changelog(lz4(data)).lineage) == 800
    assert changes(lz4(data)) == RECORDS[4]


@pytest.mark.parametrize("kind", [0x02, 0x12, 0xFF])
def test_a_record_of_an_unknown_kind(kind: int) -> None:
    start = HEADERS[4] + typed(RECORDS[4], end=False)
    data = start + bytes([kind]) + untyped([(PUT, b"k", b"v")], end=False) + b"\0"
    assert refusal(changes, lz4(data)) == ("HF2708", None, len(start))


def test_lengths_that_lie() -> None:
    start = HEADERS[2] + typed(RECORDS[2], end=False)
    for length in (-1, -2, 2**31 - 1):
        key = start + struct.pack(">Bi", PUT, length)
        assert refusal(changes, lz4(key + b"k")) == ("HF2702", None, len(start) + 1)
        value = start + struct.pack(">Bici", PUT, 1, b"k", length)
        assert refusal(changes, lz4(value + b"v")) == ("HF2702", None, len(start) + 6)
    for length in (-2, 0, 1):
        deletion = start + struct.pack(">Bici", DELETE, 1, b"k", length) + b"v\0"
        assert refusal(changes, lz4(deletion)) == ("HF2702", None, len(start) + 6)


@pytest.mark.parametrize("version", HEADERS)
def test_the_end(version: int) -> None:
    whole = changelog(version, RECORDS[version])
    marker = 1 if version in (2, 4) else 4
    assert refusal(changes, lz4(whole[:-marker])) == ("HF2703", None, len(whole) - marker)
    given, error = until_damage(lz4(whole + b"more"))
    assert given == RECORDS[version]
    assert error is not None and error.overlooked
    assert (error.code.number, error.byte) == ("HF2706", len(whole))
    given, error = until_damage(lz4(whole)[:-1])
    assert given == RECORDS[version]
    assert error is not None and error.overlooked and error.code.number == "HF2701"


@pytest.mark.parametrize("version", HEADERS)
def test_every_truncation_of_real_changelogs(version: int) -> None:
    files = sorted(
        {
            data
            for _, _, data in real_state_files("changelog")
            if len(data) < 400 and read_changelog(data).version == version
        }
    )
    assert files
    for data in files[:6]:
        expected = changes(data)
        for length in range(len(data)):
            given, error = until_damage(data[:length])
            assert error is not None and error.byte is not None
            assert given == expected[: len(given)]
            assert given == expected or not error.overlooked


@pytest.mark.parametrize("seed", range(6))
def test_any_damage_to_real_changelogs(seed: int) -> None:
    """A thousand damages a seed: an error with its byte, or what a plain reader reads as well."""
    chance = random.Random(seed)
    files = sorted({data for _, _, data in real_state_files("changelog")})
    for _ in range(1_000):
        plain = bytearray(b"".join(decompressed(chance.choice(files))))
        place = chance.randrange(len(plain))
        plain[place : place + chance.randrange(5)] = chance.choice(
            [b"\xff" * 4, b"\x7f\xff\xff\xff", bytes(4), b"", chance.randbytes(1), b"\x10"]
        )
        try:
            log = read_changelog(lz4(bytes(plain)))
        except DecodeError as error:
            assert error.code.number == "HF2707"
            continue
        given, error_after = until_damage(lz4(bytes(plain)))
        if error_after is None or error_after.overlooked:
            records = bytes(plain)[header_length(log.version, bytes(plain)) :]
            assert given == plainly_read(records, has_kinds=log.version in (2, 4))
        else:
            assert error_after.code.number in {"HF2702", "HF2703", "HF2708"}
            assert error_after.byte is not None and 0 <= error_after.byte <= len(plain)


def summed(record: Record) -> Record:
    """Put a row's checksum where Spark 4.2 does."""
    kind, key, value = record
    total = struct.pack("<I", google_crc32c.value(key + value))
    if kind == DELETE:
        return kind, total + key, b""
    return kind, key, total + struct.pack("<i", len(value)) + value


def test_row_checksums_are_verified_and_taken_off_keys() -> None:
    expected = [
        record if record[0] in (DELETE, DELETE_RANGE) else summed(record) for record in RECORDS[4]
    ]
    data = changelog(4, [summed(record) for record in RECORDS[4]])
    assert checked(lz4(data)) == expected


def test_real_row_checksums() -> None:
    """In real files, deletions carry theirs before the key."""
    met: Counter[int] = Counter()
    for sample, _, data in real_state_files("changelog"):
        if sample.name == "row-checksum-rocksdb":
            met.update(kind for kind, _, _ in checked(data))
    assert met[PUT] and met[DELETE]


@pytest.mark.parametrize("record", RECORDS[4], ids=str)
def test_a_row_that_does_not_match_its_checksum(record: Record) -> None:
    kind, key, value = summed(record)
    wrong = key[:-1] + b"!" if kind == DELETE else key + b"!"
    data = lz4(changelog(4, [summed((PUT, b"k", b"v")), (kind, wrong, value)]))
    code, _, byte = refusal(checked, data)
    assert code == "HF2705"
    start = len(HEADERS[4]) + len(typed([summed((PUT, b"k", b"v"))], end=False)) + 5
    assert byte == start + (4 if kind == DELETE else 0)


@pytest.mark.parametrize("value", [b"", b"abcd", b"abcdefg", struct.pack("<Ii", 1, 9) + b"short"])
def test_a_value_without_room_for_its_checksum(value: bytes) -> None:
    data = lz4(changelog(2, [(PUT, b"k", value)]))
    assert refusal(checked, data) == ("HF2705", None, 18 if value else 14)
