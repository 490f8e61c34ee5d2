"""The log of Spark's file sink, as real Spark wrote it and as accidents leave it."""

from __future__ import annotations

import pytest

from holdfast.errors import NotFoundError, StorageError
from holdfast.ledgers.sparkfilesink import FileSinkLog, read_file_sink_log
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Listing
from tests.checkpoint.pictures import replaced, without
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus, sample

Files = dict[str, bytes]
WITH_LOG = [one for one in corpus() if "_spark_metadata/" in "".join(one.output_files())]


def log_files(name: str, spark: str = "4.3.0") -> Files:
    """Give the files in the log's own folder."""
    files = sample(name, spark).output_files()
    return {path.removeprefix("_spark_metadata/"): data for path, data in files.items()}


def read(files: Files, batches: range = range(100)) -> FileSinkLog:
    """Read a log that is there."""
    log = read_file_sink_log(MemoryReader(files), batches)
    assert log is not None
    return log


@over_samples("one", WITH_LOG)
def test_every_real_log_is_whole(one: Sample) -> None:
    """The newest id is the newest committed batch, and nothing is missing."""
    log = read(log_files(one.name, one.spark))
    committed = [path.removeprefix("commits/") for path in one.files()
                 if path.startswith("commits/") and "." not in path]  # fmt: skip
    assert log.newest == max(map(int, committed))
    assert log.missing() == []
    assert log.damages == ()
    assert log.last_committed("whoever").value == log.newest


def test_the_interval_is_the_one_that_spark_would_find() -> None:
    """From the compact entries; ten where there are none."""
    assert read(log_files("stateless")).interval == 10
    compacted = read(log_files("stateless-compacted"))
    assert (compacted.interval, compacted.newest, compacted.next_compaction()) == (3, 10, 11)


@pytest.mark.parametrize("newest", range(40))
def test_the_next_compaction_is_where_spark_compacts(newest: int) -> None:
    """Every tenth id, counted from zero; names far apart are worked out, not counted."""
    compaction = read({str(newest): b"v1"}).next_compaction()
    assert compaction > newest
    assert (compaction + 1) % 10 == 0
    assert compaction - newest <= 10
    far = read({"2.compact": b"v1", "900000000000000002.compact": b"v1"})
    assert far.next_compaction() >= 900_000_000_000_000_003


@pytest.mark.parametrize(
    ("name", "gone", "missing"),
    [
        ("stateless", ("0",), [0]),
        ("stateless", ("0", "1", "2"), [0, 1, 2]),
        ("stateless-compacted", ("9",), [9]),
        ("stateless-compacted", ("8.compact",), [8]),
        ("stateless-compacted", ("1",), []),
    ],
)
def test_what_readers_need_is_missed(name: str, gone: tuple[str, ...], missing: list[int]) -> None:
    """Entries before the newest compact one are not needed."""
    assert read(without(log_files(name), *gone)).missing() == missing


def test_no_log_is_none() -> None:
    """Neither a folder that is not there nor an empty one."""

    class Nowhere(MemoryReader):
        def list(self) -> Listing:
            raise NotFoundError("HF7001", "nothing is there")

    assert read_file_sink_log(Nowhere({}), ()) is None
    assert read_file_sink_log(MemoryReader({"readme": b""}), ()) is None


def test_entries_tell_when_they_were_written() -> None:
    """Of the batches that are asked for, and of the newest."""
    log = read(log_files("stateless"), range(1, 2))
    assert sorted(log.written_ms) == [1, 3]
    assert all(time > 1_700_000_000_000 for time in log.written_ms.values())


def test_damage_is_told_and_the_rest_is_read() -> None:
    """Bytes that are no entry, and a file that can't be read."""
    files = replaced(log_files("stateless"), "3", b"v1\n{")

    class Locked(MemoryReader):
        def _whole(self, path: str) -> bytes | StorageError:
            return StorageError("HF7002", "denied") if path == "2" else super()._whole(path)

    log = read_file_sink_log(Locked(files), range(4))
    assert log is not None
    assert {path: error.code.number for path, error in log.damages} == {
        "2": "HF7002",
        "3": "HF2105",
    }
    assert sorted(log.written_ms) == [0, 1]
