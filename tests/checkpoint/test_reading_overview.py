"""A glance tells the same as the whole picture, from two listings and one file."""

from __future__ import annotations

from holdfast.checkpoint.reading import read_overview
from holdfast.storage.memory import MemoryReader
from holdfast.storage.testing import RecordingReader
from tests.checkpoint.pictures import files_of, picture_of, replaced, without
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus


@over_samples("one", corpus())
def test_it_agrees_with_the_picture(one: Sample) -> None:
    files = dict(one.files())
    picture, glance = picture_of(files), read_overview(MemoryReader(files))
    assert glance.query_id == one.facts["query_id"]
    assert glance.last_planned == picture.newest_offsets_id
    assert glance.last_committed == picture.newest_commit_id
    assert (glance.pending, glance.exists) == (picture.pending, True)


def test_it_asks_for_little() -> None:
    reader = RecordingReader(MemoryReader(files_of("purged")))
    read_overview(reader)
    asked = [(one.act, one.path) for one in reader.operations]
    assert asked == [("names", "commits"), ("names", "offsets"), ("read", "metadata")]


def test_an_empty_place_is_no_checkpoint() -> None:
    glance = read_overview(MemoryReader({}))
    assert (glance.exists, glance.query_id, glance.pending) == (False, None, None)


def test_the_first_batch_may_be_pending() -> None:
    files = {path: data for path, data in files_of("pending").items() if "commits" not in path}
    assert read_overview(MemoryReader(files)).pending == 2


def test_without_metadata_the_logs_still_tell() -> None:
    glance = read_overview(MemoryReader(without(files_of("pending"), "metadata")))
    assert (glance.exists, glance.query_id, glance.last_planned) == (True, None, 2)


def test_damaged_metadata_is_told() -> None:
    glance = read_overview(MemoryReader(replaced(files_of("pending"), "metadata", b"{")))
    assert glance.damage is not None and glance.query_id is None
    assert glance.last_committed == 1
