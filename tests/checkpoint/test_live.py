"""A checkpoint that is written to while it is looked at: what passes is not called damage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import pytest

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import read_picture
from holdfast.checkpoint.verification import verify
from holdfast.diagnosis.checks.picture import check_picture
from holdfast.diagnosis.doctor.state import look_at_state
from holdfast.errors import StorageError
from holdfast.findings import Severity, worst
from holdfast.format.logs.checksums import encode_hadoop_checksum
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Listing
from tests.checkpoint.pictures import Files, files_of

UUID = "6b1c5f0e-6a0d-4c7a-9d0e-2f7f0a2c9d11"
DELTA, DELTA_SIDE = "state/0/1/3.delta", "state/0/1/.3.delta.crc"
Change = Callable[[Files], None]


class LiveReader(MemoryReader):
    """Lets a writer go on between two requests: `after[path]` is done once `path` was read."""

    def __init__(self, files: Files, after: Mapping[str, Change], listed: Change | None = None):
        super().__init__(files)
        self.files = files
        self.after = dict(after)
        self.listed = listed

    def list(self) -> Listing:
        """List, then let the writer go on."""
        listing = super().list()
        if self.listed is not None:
            self.listed(self.files)
            self.listed = None
        return listing

    def read(self, path: str, start: int = 0, length: int | None = None) -> bytes:
        """Read, then let the writer go on."""
        try:
            return super().read(path, start, length)
        finally:
            if path in self.after:
                self.after.pop(path)(self.files)

    def read_many(self, paths: Iterable[str]) -> Mapping[str, bytes | StorageError]:
        """Read one after the other."""
        return {path: self._whole(path) for path in paths}


def rewritten(path: str, data: bytes) -> Change:
    """Write a file and its checksum again."""
    folder, _, name = path.rpartition("/")

    def write(files: Files) -> None:
        files[path] = data
        files[f"{folder}/.{name}.crc"] = encode_hadoop_checksum(data)

    return write


def removed(*paths: str) -> Change:
    """Remove files."""

    def remove(files: Files) -> None:
        for path in paths:
            files.pop(path, None)

    return remove


def verified(reader: MemoryReader) -> Picture:
    """Read and verify."""
    return verify(reader, read_picture(reader))


@pytest.mark.parametrize("folder", ["offsets", "commits", "state/0/0", "sources/0"])
@pytest.mark.parametrize("thread", ["", ".TID77"])
def test_a_temporary_file_is_not_compared_with_its_checksum(folder: str, thread: str) -> None:
    """Its writer is at work: the file and its checksum are of different moments."""
    files = files_of("aggregation-hdfs-lz4")
    name = f".4.{UUID}{thread}.tmp"
    files |= {
        f"{folder}/{name}": b"v1\n{}",
        f"{folder}/.{name}.crc": encode_hadoop_checksum(b"v1\n"),
    }
    picture = verified(MemoryReader(files))
    assert picture.damages == ()
    assert worst((*check_picture(picture),)) in (None, Severity.INFO)


@pytest.mark.parametrize("path", ["offsets/1", "commits/1", DELTA, "state/0/_metadata/metadata"])
def test_a_file_written_again_between_its_bytes_and_its_checksum(path: str) -> None:
    """The second look sees both of one moment."""
    files = files_of("aggregation-hdfs-lz4")
    new = files["commits/0"] + b" " if path.startswith("commits") else files[path] + b"\n"
    reader = LiveReader(files, {path: rewritten(path, new)})
    picture = read_picture(reader, history=1)
    reader.after = {path: rewritten(path, new)}
    assert verify(reader, picture).damages == ()


def test_an_entry_of_the_picture_is_read_again_before_it_is_called_damaged() -> None:
    """Without verifying: the newest entries are compared at every look."""
    files = files_of("stateless")
    newest = max(int(path[8:]) for path in files if path[8:].isdecimal() and "offsets/" in path)
    path = f"offsets/{newest}"
    new = files[path].replace(b'"batchWatermarkMs":0', b'"batchWatermarkMs":7')
    picture = read_picture(LiveReader(files, {path: rewritten(path, new)}))
    assert picture.damages == ()
    entry = picture.offsets[newest]
    assert entry.metadata is not None
    assert entry.metadata.watermark_ms == 7


def test_a_file_that_is_gone_at_the_second_look_is_no_damage() -> None:
    """Spark removed it: its checksum was read after the first part of that."""
    files = files_of("aggregation-hdfs-lz4")
    picture = read_picture(MemoryReader(files))

    def changed_then_removed(files: Files) -> None:
        files[DELTA_SIDE] = encode_hadoop_checksum(b"other")
        reader.after = {DELTA_SIDE: removed(DELTA, DELTA_SIDE)}

    reader = LiveReader(files, {DELTA: changed_then_removed})
    assert verify(reader, picture).damages == ()


def test_what_stays_damaged_is_damage() -> None:
    """The second look does not hide it."""
    files = files_of("aggregation-hdfs-lz4")
    files[DELTA] = files[DELTA][:-1] + b"?"
    found = verified(MemoryReader(files)).damages
    assert [(one.file, one.error.code.number) for one in found] == [(DELTA, "HF2111")]


@pytest.mark.parametrize(
    ("listed", "then"),
    [
        ("commits/.9.crc", "commits/9"),
        ("offsets/.8.crc", "offsets/8"),
        ("commits/.8.crc", None),
        ("state/0/1/.9.delta.crc", "state/0/1/9.delta"),
    ],
)
def test_a_checksum_without_its_file_is_looked_at_again(listed: str, then: str | None) -> None:
    """Hadoop renames and removes the two one after the other; at rest it is reported."""
    files = {**files_of("aggregation-hdfs-lz4"), listed: b"crc\0"}
    assert worst((*check_picture(read_picture(MemoryReader(files))),)) not in (None, Severity.INFO)

    def go_on(files: Files) -> None:
        if then is None:
            del files[listed]
        else:
            files[then] = b""

    picture = read_picture(LiveReader(dict(files), {}, listed=go_on))
    assert listed not in picture.layout.orphan_checksums


@pytest.mark.parametrize("everything", [True, False], ids=["verified", "needed"])
@pytest.mark.parametrize("change", ["rewritten", "removed", "checksum removed"])
def test_state_that_is_replaced_while_the_doctor_reads_it(everything: bool, change: str) -> None:
    """Neither damage nor a finding."""
    files = files_of("aggregation-hdfs-lz4")
    picture = read_picture(MemoryReader(files))
    path = max(one for one in files if one.startswith("state/0/1/") and one.endswith(".delta"))
    folder, _, name = path.rpartition("/")
    side = f"{folder}/.{name}.crc"
    same = files["state/0/1/2.delta"]
    assert same != files[path]
    changes = {
        "rewritten": rewritten(path, same),
        "removed": removed(path, side),
        "checksum removed": removed(side),
    }
    reader = LiveReader(files, {path: changes[change]})
    if change == "removed":
        reader = LiveReader(files, {})
        changes[change](files)
    seen = look_at_state(reader, picture, {}, verified=everything)
    assert seen.damages == ()
    assert seen.overlooked == ()
