"""Snapshots' zips: both forms of their metadata, and nothing unpacked that Spark never packs."""

from __future__ import annotations

import io
import json
import random
import struct
import tracemalloc
import zipfile
from collections.abc import Mapping

import pytest

from holdfast.errors import DecodeError
from holdfast.format.rocksdb.snapshot import ColumnFamily, SstFile, decode_rocks_zip
from tests.corpus.loading import sample
from tests.format.expecting import refusal

SST = {"localFileName": "000008.sst", "dfsSstFileName": "000008-a-b.sst", "sizeBytes": 9}
OLD = {"sstFiles": [SST], "numKeys": 4}
NEW = {
    **OLD,
    "numInternalKeys": 3,
    "columnFamilyMapping": {"default": 1, "$ttl": 2},
    "columnFamilyTypeMap": {"default": False, "$ttl": True},
    "maxColumnFamilyId": 2,
}


def packed(
    metadata: object = OLD, more: Mapping[str, bytes] | None = None, without: str = ""
) -> bytes:
    """Pack what Spark packs, and more."""
    text = metadata if isinstance(metadata, str) else f"v1\n{json.dumps(metadata)}"
    files = {
        "CURRENT": b"MANIFEST-000005\n",
        "MANIFEST-000005": b"manifest",
        "OPTIONS-000007": b"  merge_operator=StringAppendOperator\n",
        "metadata": text.encode(),
        **(more or {}),
    }
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            if name != without:
                archive.writestr(name, data)
    return content.getvalue()


def test_the_form_of_spark_3() -> None:
    snapshot = decode_rocks_zip(packed())
    assert snapshot.sst_files == (SstFile("000008.sst", "000008-a-b.sst", 9),)
    assert snapshot.key_count == 4
    assert snapshot.column_families == ()
    assert set(snapshot.database_files) == {"CURRENT", "MANIFEST-000005"}


def test_the_form_of_spark_4() -> None:
    snapshot = decode_rocks_zip(packed(NEW, {"000004.log": b""}))
    assert snapshot.key_count == 7
    assert snapshot.column_families == (
        ColumnFamily("default", 1, internal=False),
        ColumnFamily("$ttl", 2, internal=True),
    )
    assert "000004.log" in snapshot.database_files


def test_keys_that_were_not_counted() -> None:
    snapshot = decode_rocks_zip(packed({**NEW, "numKeys": -1, "numInternalKeys": -1}))
    assert snapshot.num_keys is None
    assert snapshot.key_count is None


@pytest.mark.parametrize(
    ("written", "delimiter"),
    [
        ("nullptr", b""),
        ("StringAppendOperator", b""),
        ("{id=StringAppendOperator;delimiter=,;}", b","),
    ],
)
def test_what_stands_between_the_values_of_a_list(written: str, delimiter: bytes) -> None:
    more = {"OPTIONS-000007": f"  merge_operator={written}\n".encode()}
    assert decode_rocks_zip(packed(OLD, more)).delimiter == delimiter


def test_another_merge_operator_is_refused() -> None:
    more = {"OPTIONS-000007": b"  merge_operator=MaxOperator\n"}
    assert refusal(decode_rocks_zip, packed(OLD, more))[0] == "HF2717"


@pytest.mark.parametrize(
    "metadata",
    [
        "",
        "v1",
        "v1\n[]",
        "v1\n{",
        "v2\n{}",
        "v1\n{}",
        {**OLD, "sstFiles": {}},
        {**OLD, "sstFiles": [1]},
        {**OLD, "sstFiles": [{**SST, "localFileName": "../000008.sst"}]},
        {**OLD, "sstFiles": [{**SST, "localFileName": "CURRENT"}]},
        {**OLD, "sstFiles": [{**SST, "dfsSstFileName": "../../x.sst"}]},
        {**OLD, "sstFiles": [{**SST, "sizeBytes": -1}]},
        {**OLD, "sstFiles": [{**SST, "sizeBytes": "9"}]},
        {**NEW, "columnFamilyMapping": {"a": 1, "b": 1}},
        {**NEW, "columnFamilyMapping": {"a": 2**40}},
        {**NEW, "columnFamilyMapping": [1]},
        {**NEW, "columnFamilyTypeMap": {"default": 1}},
    ],
)
def test_metadata_that_spark_does_not_write(metadata: object) -> None:
    data = packed(metadata)
    place = zipfile.ZipFile(io.BytesIO(data)).getinfo("metadata").header_offset
    assert refusal(decode_rocks_zip, data) == ("HF2716", None, place)


@pytest.mark.parametrize(
    ("without", "code"),
    [("metadata", "HF2716"), ("CURRENT", "HF2715"), ("MANIFEST-000005", "HF2715")],
)
def test_what_must_be_packed(without: str, code: str) -> None:
    assert refusal(decode_rocks_zip, packed(without=without))[0] == code


def test_a_manifest_elsewhere_is_refused() -> None:
    more = {"CURRENT": b"../MANIFEST-000005\n"}
    assert refusal(decode_rocks_zip, packed(OLD, more))[0] == "HF2715"


@pytest.mark.parametrize("name", ["../x", "/etc/x", "a/b", "a\\b", "", ".x", "x" * 300, "a\0b"])
def test_names_that_lead_elsewhere(name: str) -> None:
    data = packed(OLD, {"Q" * max(len(name), 1): b""})
    renamed = data.replace(b"Q" * max(len(name), 1), name.encode() or b"\0")
    assert refusal(decode_rocks_zip, renamed)[0] == "HF2717"


def test_a_name_packed_twice() -> None:
    data = packed(OLD, {"CURRENX": b"MANIFEST-000005\n"}).replace(b"CURRENX", b"CURRENT")
    assert refusal(decode_rocks_zip, data)[0] == "HF2717"


def with_declared_size(data: bytes, name: bytes, size: int) -> bytes:
    """Make the directory of a zip say another size of a packed file."""
    entry = data.rindex(name) - 46
    return data[: entry + 24] + struct.pack("<I", size) + data[entry + 28 :]


def test_a_bomb_is_not_unpacked() -> None:
    data = packed(OLD, {"MANIFEST-000009": b"x"})
    bomb = with_declared_size(data, b"MANIFEST-000009", 300 << 20)
    assert refusal(decode_rocks_zip, bomb) == ("HF2717", None, 0)


def test_a_bomb_that_lies_about_its_size() -> None:
    data = packed(OLD, {"MANIFEST-000009": bytes(20 << 20)})
    bomb = with_declared_size(data, b"MANIFEST-000009", 10)
    tracemalloc.start()
    assert refusal(decode_rocks_zip, bomb)[0] == "HF2715"
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 4 << 20


def test_too_many_files() -> None:
    data = packed(OLD, {f"f{number}": b"" for number in range(2000)})
    assert refusal(decode_rocks_zip, data)[0] == "HF2717"


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_ways_of_packing(method: int) -> None:
    content = io.BytesIO(packed())
    with zipfile.ZipFile(content, "a", method) as archive:
        archive.writestr("IDENTITY", b"x")
    assert refusal(decode_rocks_zip, content.getvalue())[0] == "HF2717"


def test_cut_off_anywhere() -> None:
    data = packed()
    for length in range(len(data)):
        assert refusal(decode_rocks_zip, data[:length])[0] == "HF2715"


def test_any_damage_is_refused_or_changes_nothing() -> None:
    """Five thousand damages of a real zip; what is not covered by a checksum is not used."""
    files = sample("transform-pandas-zips", "4.3.0").files()
    data = files[next(path for path in sorted(files) if path.endswith(".zip"))]
    whole = decode_rocks_zip(data)
    source = random.Random(7)
    for _ in range(5000):
        damaged = bytearray(data)
        for _ in range(source.choice((1, 1, 2, 8))):
            damaged[source.randrange(len(data))] ^= 1 << source.randrange(8)
        try:
            assert decode_rocks_zip(bytes(damaged)) == whole
        except DecodeError as error:
            assert error.code.number in ("HF2715", "HF2716", "HF2717")
            assert error.byte is not None
