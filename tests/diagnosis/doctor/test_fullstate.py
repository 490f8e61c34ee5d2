"""Damaged state by the hundred: the doctor always answers, and never calls it healthy."""

from __future__ import annotations

from random import Random

import pytest

from holdfast.checkpoint.reading import read_picture
from holdfast.diagnosis.doctor.fullstate import read_state
from holdfast.findings import Severity
from holdfast.storage.memory import MemoryReader
from tests.checkpoint.pictures import files_of
from tests.diagnosis.doctor.examining import Files, examined, examinee

SAMPLES = (
    "aggregation-hdfs-snapshots",
    "aggregation-rocksdb-changelog-snapshots",
    "aggregation-rocksdb-format-2-snapshots",
    "join-format-4",
    "row-checksum-rocksdb",
    "transform-pandas-avro",
)
SUFFIXES = (".delta", ".snapshot", ".zip", ".changelog", ".sst")


def bare(files: Files) -> Files:
    """Take every checksum away, as on a store that keeps none."""
    return {path: data for path, data in files.items() if not path.endswith(".crc")}


def damaged(data: bytes, random: Random) -> bytes:
    """Cut, empty out, flip or lengthen."""
    place = random.randrange(len(data))
    return random.choice(
        [
            data[:place],
            data[:place] + bytes(len(data) - place),
            data[:place] + bytes([data[place] ^ (1 << random.randrange(8))]) + data[place + 1 :],
            data[:place] + random.randbytes(8) + data[place:],
        ]
    )


@pytest.mark.parametrize("name", SAMPLES)
def test_every_damage_gets_an_answer(name: str, whole: bool) -> None:
    """No damage raises anything, and what is left out of a file is seen."""
    files = bare(files_of(name))
    state = [path for path in files if path.startswith("state/") and files[path]]
    random = Random(name)
    for _ in range(40 if whole else 12):
        path = random.choice(state)
        broken = {**files, path: damaged(files[path], random)}
        assert examined(examinee(broken), verified=True).findings


@pytest.mark.parametrize("name", SAMPLES)
def test_a_file_cut_in_half_is_always_told(name: str) -> None:
    """Each file of each kind."""
    files = bare(files_of(name))
    for path in [one for one in files if one.startswith("state/") and one.endswith(SUFFIXES)]:
        broken = {**files, path: files[path][: len(files[path]) // 2]}
        findings = examined(examinee(broken), verified=True).findings
        told = [one for one in findings if one.severity.rank >= Severity.WARNING.rank]
        assert any("state/0" in one.place.file for one in told), path


@pytest.mark.parametrize("name", SAMPLES)
def test_progress_is_told_while_state_is_decoded(name: str) -> None:
    """Bytes of state done, of those in all; the last word is that nothing is left."""
    reader = MemoryReader(files_of(name))
    seen: list[tuple[int, int]] = []
    read_state(reader, read_picture(reader), frozenset(), lambda *told: seen.append(told))
    assert len(seen) > 1 and seen == sorted(seen)
    assert seen[0][0] < seen[-1][0] == seen[-1][1]
