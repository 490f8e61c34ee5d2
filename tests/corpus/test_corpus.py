"""The corpus is whole, small, anonymous, and agrees with what Spark said about it."""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath

import pytest

from tests.corpus.loading import Sample, corpus
from tests.corpus.pack import EPOCH, refuse_leaks

BUDGET_BYTES = 6_000_000
CRC_HEADER = struct.Struct(">4si")

SAMPLES = corpus()
every_sample = pytest.mark.parametrize("sample", SAMPLES, ids=str)


def test_archives_stay_within_the_budget() -> None:
    """All archives together are under six million bytes."""
    assert SAMPLES
    assert sum(sample.archive.stat().st_size for sample in SAMPLES) < BUDGET_BYTES


@every_sample
def test_archive_is_whole_and_deterministic(sample: Sample) -> None:
    """Every entry can be read, names are sorted, times are fixed."""
    with zipfile.ZipFile(sample.archive) as packed:
        assert packed.testzip() is None
        assert packed.namelist() == sorted(packed.namelist())
        assert {entry.date_time for entry in packed.infolist()} == {EPOCH}


@every_sample
def test_archive_names_no_machine(sample: Sample) -> None:
    """No file, also none inside a zip, names a folder of the machine that made it."""
    facts = sample.archive.with_suffix(".json").read_bytes()
    refuse_leaks({**sample.files(), **sample.output_files(), "facts": facts}, "localhost")


@every_sample
def test_facts_agree_with_the_checkpoint(sample: Sample) -> None:
    """The query id and the Spark version are the recorded ones."""
    files = sample.files()
    assert sample.facts["spark"] == sample.spark
    assert sample.facts["shape"] == sample.name
    assert json.loads(files["metadata"]) == {"id": sample.facts["query_id"]}


@every_sample
def test_side_files_match_their_files(sample: Sample) -> None:
    """Hadoop's checksums hold: packing changed no byte."""
    files = {**sample.files(), **sample.output_files()}
    for name, content in files.items():
        path = PurePosixPath(name)
        side_file = files.get(str(path.with_name(f".{path.name}.crc")))
        if side_file is not None and not name.endswith(".tmp"):
            assert side_file == checksums(content), name


@every_sample
def test_extract_gives_the_same_files(sample: Sample, tmp_path: Path) -> None:
    """Unpacking leads to the same bytes as reading the archive."""
    root = sample.extract(tmp_path)
    unpacked = [path for path in root.rglob("*") if path.is_file()]
    assert {path.relative_to(root).as_posix(): path.read_bytes() for path in unpacked} == (
        sample.files()
    )


def checksums(content: bytes, chunk: int = 512) -> bytes:
    """Returns the side file that Hadoop's local file system writes for `content`."""
    parts = [content[start : start + chunk] for start in range(0, len(content), chunk)]
    sums = b"".join(struct.pack(">I", zlib.crc32(part)) for part in parts)
    return CRC_HEADER.pack(b"crc\0", chunk) + sums
