"""Taking the picture: one listing, only what is needed, one consistent moment."""

from __future__ import annotations

import pytest

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import ENTRY_LIMIT_BYTES, read_picture
from holdfast.errors import CheckpointError, NotFoundError, StorageError
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import FileKind, Listed, Listing
from holdfast.storage.testing import FaultyReader, InjectedFault, RecordingReader
from tests.checkpoint.pictures import Files, files_of, picture_of, replaced
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus


@over_samples("one", corpus())
def test_the_picture_says_what_spark_said(one: Sample) -> None:
    """Query id, newest batch and its end offsets are those that Spark reported itself."""
    picture = picture_of(dict(one.files()))
    assert picture.query is not None
    assert picture.query.id == one.facts["query_id"]
    assert picture.damages == () or one.name == "killed"
    reported = [step for run in one.facts["runs"] for step in run["progress"]]
    by_batch = {step["batchId"]: step for step in reported}
    for batch_id, entry in picture.offsets.items():
        if batch_id not in by_batch or entry.metadata is None or entry.version != 1:
            continue
        ends = [source["endOffset"] for source in by_batch[batch_id]["sources"]]
        texts = [source.text for source in entry.sources]
        if len(ends) == len(texts):
            assert [_plain(end) for end in ends] == [_plain(text) for text in texts]


def _plain(offset: object) -> object:
    import json

    if isinstance(offset, str):
        try:
            return json.loads(offset)
        except ValueError:
            return offset
    return offset


def big(batches: int) -> Files:
    """Stretch a real stateless checkpoint to many batches."""
    files = files_of("rate-micro-batch")
    entry, commit = files["offsets/0"], files["commits/0"]
    stretched = {path: data for path, data in files.items() if "/" not in path}
    for batch_id in range(batches):
        stretched[f"offsets/{batch_id}"] = entry
        stretched[f"commits/{batch_id}"] = commit
    return stretched


def test_a_long_history_is_listed_once_and_not_read() -> None:
    """Ten times the batches cost a longer listing, not one more read."""
    counts = []
    for batches in (300, 3000):
        reader = RecordingReader(MemoryReader(big(batches)))
        read_picture(reader, history=10)
        assert sum(one.act == "list" for one in reader.operations) == 1
        counts.append(len(reader.paths_read))
    assert counts[0] == counts[1] < 60


def test_what_the_next_start_needs_is_read() -> None:
    """The two newest offsets, the newest commit, metadata, source log, schema and operators."""
    reader = RecordingReader(MemoryReader(files_of("aggregation-hdfs-lz4")))
    picture = read_picture(reader, history=1)
    newest = picture.newest_offsets_id
    assert newest is not None
    expected = {
        "metadata",
        f"offsets/{newest}",
        f"offsets/{newest - 1}",
        f"commits/{picture.newest_commit_id}",
        "sources/0/0",
        "state/0/_metadata/metadata",
        "state/0/0/_metadata/schema",
    }
    assert expected <= set(reader.paths_read)
    assert not any(path.endswith(".delta") for path in reader.paths_read)


class GrowingReader(MemoryReader):
    """A query commits another batch after each listing."""

    def __init__(self, files: Files, grow: int) -> None:
        super().__init__(files)
        self.files = files
        self.left = grow

    def list(self) -> Listing:
        """List, then let the next batch appear."""
        listing = super().list()
        if self.left:
            self.left -= 1
            newest = max(int(path[8:]) for path in self.files if path.startswith("offsets/"))
            self.files[f"offsets/{newest + 1}"] = self.files["offsets/0"]
            self.files[f"commits/{newest + 1}"] = self.files["commits/0"]
        return listing


def test_a_folder_that_moves_is_read_again() -> None:
    """One new batch in between: the second look finds a quiet moment."""
    picture = read_picture(GrowingReader(big(3), grow=1))
    assert not picture.moved
    assert picture.newest_offsets_id == 3


def test_a_folder_that_never_rests_is_said_to_move() -> None:
    """The picture is still consistent: no commit without its offsets."""
    picture = read_picture(GrowingReader(big(3), grow=100))
    assert picture.moved
    assert picture.newest_commit_id == picture.newest_offsets_id


def test_a_file_that_vanishes_is_movement_not_damage() -> None:
    """Spark purges while we read."""
    reader = FaultyReader(MemoryReader(big(5)), vanished=["offsets/4"])
    picture = read_picture(reader)
    assert picture.moved
    assert picture.damages == ()


def test_a_storage_that_fails_half_way_is_a_located_damage() -> None:
    """The failing file is named, the rest is still read."""
    error = StorageError("HF7006", "the line broke")
    reader = FaultyReader(MemoryReader(big(5)), InjectedFault(at=4, error=error))
    picture = read_picture(reader)
    assert [damage.error for damage in picture.damages] == [error]
    assert picture.damages[0].file


def test_an_entry_too_large_is_not_read() -> None:
    """A 3 GB offsets file is a finding, not a flood."""

    class HugeReader(MemoryReader):
        def list(self) -> Listing:
            items = [
                Listed(one.path, one.kind, 3 * 10**9 if one.path == "offsets/4" else one.size)
                for one in super().list().items
            ]
            return Listing(tuple(items), {})

    reader = RecordingReader(HugeReader(big(5)))
    picture = read_picture(reader)
    assert [damage.error.code.number for damage in picture.damages] == ["HF2108"]
    assert "offsets/4" not in reader.paths_read
    assert ENTRY_LIMIT_BYTES < 3 * 10**9


def test_a_foreign_folder_is_refused() -> None:
    """Files, but none of a checkpoint's."""
    with pytest.raises(CheckpointError) as caught:
        picture_of({"readme.txt": b"x", "data/part-0": b"y"})
    assert caught.value.code.number == "HF2001"
    assert caught.value.exit_status == 21


def test_an_empty_folder_is_a_fresh_checkpoint() -> None:
    """Nothing there at all: Spark would begin."""
    assert picture_of({}).newest_offsets_id is None


def test_a_root_that_is_missing_is_not_found() -> None:
    """The reader's word is passed on."""

    class NowhereReader(MemoryReader):
        def list(self) -> Listing:
            raise NotFoundError("HF7001", "it does not exist")

    with pytest.raises(NotFoundError):
        read_picture(NowhereReader({}))


def test_a_root_that_cannot_be_listed_stops_the_reading() -> None:
    """Without a listing there is no picture."""

    class LockedReader(MemoryReader):
        def list(self) -> Listing:
            return Listing((), {"": StorageError("HF7002", "denied")})

    with pytest.raises(StorageError) as caught:
        read_picture(LockedReader({}))
    assert caught.value.code.number == "HF7002"


def test_a_large_compacted_log_is_left_unread() -> None:
    """It tells amounts only; the picture says that it was left out."""

    class LargeLogReader(MemoryReader):
        def list(self) -> Listing:
            items = [
                Listed(one.path, one.kind, 10**8 if one.path.endswith(".compact") else one.size)
                for one in super().list().items
            ]
            return Listing(tuple(items), {})

    picture = read_picture(LargeLogReader(files_of("stateless-compacted")))
    assert picture.unread
    assert all(path.endswith(".compact") for path in picture.unread)
    assert picture.damages == ()


def damage_codes(picture: Picture) -> list[tuple[str, str]]:
    """Give each damage as file and code."""
    return [(one.file, one.error.code.number) for one in picture.damages]


def test_a_stale_checksum_is_seen() -> None:
    """The content was edited, Hadoop's checksum beside it was not."""
    files = files_of("stateless")
    newest = max(
        int(path[8:]) for path in files if path.startswith("offsets/") and path[8:].isdecimal()
    )
    path = f"offsets/{newest}"
    files[path] = files[path].replace(b'"batchWatermarkMs":0', b'"batchWatermarkMs":7')
    assert damage_codes(picture_of(files)) == [(path, "HF2111")]


def test_without_checksums_a_damaged_entry_is_located_by_its_grammar() -> None:
    """Object stores have no side files."""
    files = replaced(files_of("stateless"), "commits/0", b"v1\n{")
    assert damage_codes(picture_of(files)) == [("commits/0", "HF2105")]


def test_links_and_pipes_are_not_files() -> None:
    """They are kept apart and never read."""

    class OddReader(MemoryReader):
        def list(self) -> Listing:
            odd = Listed("offsets/9", FileKind.OUTWARD_LINK, 0)
            return Listing((*super().list().items, odd), {})

    picture = read_picture(OddReader(files_of("stateless")))
    assert [one.path for one in picture.layout.special] == ["offsets/9"]
    assert picture.newest_offsets_id != 9


def test_a_base_folder_names_the_checkpoints_inside() -> None:
    """Giving the folder above is the likeliest mistake."""
    files = {f"orders/{path}": data for path, data in files_of("stateless").items()}
    with pytest.raises(CheckpointError) as caught:
        picture_of(files)
    assert "checkpoints inside: orders" in caught.value.message


def test_records_and_backups_are_not_offered_as_checkpoints() -> None:
    """They lie in a hidden folder beside those of the jobs."""
    copy = ".holdfast/orders/backups/1/checkpoint/offsets/0"
    reader = MemoryReader({"orders/offsets/0": b"", copy: b"", ".holdfast/offsets/0": b""})
    with pytest.raises(CheckpointError) as caught:
        read_picture(reader)
    assert caught.value.message.endswith("checkpoints inside: orders")


def test_a_plain_name_counts_before_a_padded_one() -> None:
    """Spark opens `3` where both are there."""
    files = files_of("stateless")
    files["offsets/003"] = b"v1\n"
    picture = picture_of(files)
    assert picture.layout.offsets.files[3].path == "offsets/3"
