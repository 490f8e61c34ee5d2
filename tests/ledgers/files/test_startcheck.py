"""The output folder of a file sink before a start: deleted, emptied, expired, compacted, whole."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from holdfast.errors import SinkError
from holdfast.ledgers.files.output import FileOutput, file_prefix
from holdfast.ledgers.files.publishing import commit_manifest
from holdfast.ledgers.files.replacing import REPLACED
from holdfast.ledgers.files.rewinding import clear, rewind
from holdfast.ledgers.files.startcheck import LOOKED_AT, look_at_folder
from holdfast.ledgers.sinkstate import Contents, SinkAnswer, SinkState
from holdfast.storage.location import Location, parse_location
from holdfast.storage.opening import open_reader
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader
from holdfast.storage.testing import RecordingReader
from tests.ledgers.files.test_manifests import (
    QUERY,
    Place,
    deliver,
    local,
    log_of,
    published,
    staged,
)


def look(place: Place, query_id: str | None = QUERY) -> SinkState:
    """Look as a start does."""
    return look_at_folder(place.output(), log_of(place.output()), query_id)


def folder_of(place: Place) -> Path:
    """Give the output folder."""
    return Path(place.url)


def filled(place: Place, batches: int = 3) -> None:
    """Deliver batches of two files each."""
    for number in range(batches):
        deliver(place, number, f"a{number}", f"b{number}")


def files_of(place: Place, batch_id: int) -> list[Path]:
    """Give the files of a batch."""
    return sorted(folder_of(place).rglob(f"*-{batch_id:010d}-*"))


def test_a_new_place_is_absent(tmp_path: Path) -> None:
    """Nothing is created by looking."""
    for query in (QUERY, None):
        seen = look(local(tmp_path), query)
        assert (seen.held.answer, seen.contents) == (SinkAnswer.NOTHING, Contents.ABSENT)
        assert seen.place == f"file://{tmp_path.resolve()}/out"
        assert seen.newest_delivered is None
    assert list(tmp_path.iterdir()) == []


def test_manifests_that_were_removed_are_put_back(tmp_path: Path) -> None:
    """The files alone say whose they are; with the manifests everything is known again."""
    place = local(tmp_path)
    for number in range(2):
        deliver(place, number, f"{file_prefix(QUERY)}-{number:010d}-part-0.parquet")
    shutil.move(tmp_path / ".holdfast", tmp_path / "aside")
    seen = look(place)
    assert (seen.held.answer, seen.contents, seen.is_own) == (
        SinkAnswer.NOTHING, Contents.ROWS, True)  # fmt: skip
    assert not look(place, "0a0a0a0a-another").is_own
    shutil.move(tmp_path / "aside", tmp_path / ".holdfast")
    again = look(place)
    assert (again.held.value, again.is_own) == (1, False)


def test_a_whole_folder_is_not_listed(tmp_path: Path) -> None:
    """The newest batch's first file is there: that is enough."""
    place = local(tmp_path)
    filled(place)
    seen = look(place)
    assert (seen.held.value, seen.contents, seen.doubt) == (2, Contents.UNKNOWN, None)
    assert seen.newest_delivered == 2


@pytest.mark.parametrize("quiet", [0, LOOKED_AT + 1])
def test_a_deleted_output_is_gone_although_its_manifests_are_there(
    tmp_path: Path, quiet: int
) -> None:
    """However many batches without rows came since."""
    place = local(tmp_path)
    filled(place)
    for number in range(quiet):
        deliver(place, 3 + number)
    shutil.rmtree(folder_of(place))
    seen = look(place)
    assert seen.held.value == 2 + quiet and seen.contents is Contents.ABSENT
    assert seen.newest_delivered is None


@pytest.mark.parametrize("left", ["folder", "partitions", "hidden"])
def test_an_emptied_output_is_a_doubt(tmp_path: Path, left: str) -> None:
    """Retention and consumers that move files away empty a folder; they do not delete it."""
    place = local(tmp_path)
    filled(place)
    for path in folder_of(place).rglob("*.csv"):
        path.unlink()
    if left != "partitions":
        shutil.rmtree(folder_of(place))
        folder_of(place).mkdir()
    if left == "hidden":
        (folder_of(place) / "_SUCCESS").touch()
    seen = look(place)
    assert (seen.held.value, seen.contents) == (2, Contents.EMPTY)
    assert seen.doubt is not None and seen.doubt.endswith("no files are")


def test_expired_files_are_nothing_to_speak_of(tmp_path: Path) -> None:
    """Old ones went, the newest are there."""
    place = local(tmp_path)
    filled(place)
    for path in (*files_of(place, 0), *files_of(place, 1)):
        path.unlink()
    assert (look(place).contents, look(place).doubt) == (Contents.UNKNOWN, None)


def test_compacted_files_are_a_doubt(tmp_path: Path) -> None:
    """The newest went, and other files are there."""
    place = local(tmp_path)
    filled(place)
    for path in files_of(place, 2):
        path.unlink()
    seen = look(place)
    assert seen.contents is Contents.ROWS and seen.newest_delivered == 2
    assert seen.doubt is not None and "of batch 2 is not in" in seen.doubt


def test_batches_without_files_are_passed_over(tmp_path: Path) -> None:
    """The newest batch may be empty, and all may be."""
    place = local(tmp_path)
    deliver(place, 0)
    assert (look(place).held.value, look(place).contents) == (0, Contents.UNKNOWN)
    deliver(place, 1, "a")
    deliver(place, 2)
    assert look(place).contents is Contents.UNKNOWN
    shutil.rmtree(folder_of(place))
    assert look(place).contents is Contents.ABSENT


@pytest.mark.parametrize("mode", ["append", "complete"])
def test_what_is_still_to_be_published_is_not_missed(tmp_path: Path, mode: str) -> None:
    """A driver was killed between the manifest and the files; in mode complete, also between."""
    place = local(tmp_path)
    commit_manifest(place.output(), staged(place, 0, "a", mode=mode))
    assert (look(place).held.value, look(place).contents) == (0, Contents.UNKNOWN)


def test_an_output_that_was_moved_aside_is_not_missed(tmp_path: Path) -> None:
    """The next batch puts it back."""
    place = local(tmp_path)
    deliver(place, 0, "a", mode="complete")
    assert look(place).contents is Contents.UNKNOWN
    aside = f"{place.output().staged_for(QUERY)}/{REPLACED}0000000000-abc"
    (tmp_path / aside).parent.mkdir(parents=True, exist_ok=True)
    folder_of(place).rename(tmp_path / aside)
    assert look(place).contents is Contents.UNKNOWN
    shutil.rmtree(tmp_path / aside)
    assert look(place).contents is Contents.ABSENT


def leftover(place: Place, name: str) -> None:
    """Leave a folder with a file in staging, as a process that was killed while it removed one."""
    folder = Path(place.url).parent / place.output().staged_for(QUERY) / name
    folder.mkdir(parents=True)
    (folder / "part-00000-left.csv").write_text("a")


@pytest.mark.parametrize("name", ["replaced-0000000000-abc", "removed-abc"])
def test_a_deleted_output_is_gone_although_staging_has_a_leftover(
    tmp_path: Path, name: str
) -> None:
    """Of a batch whose attempt was being removed: by this version, and by older ones."""
    place = local(tmp_path)
    filled(place)
    leftover(place, name)
    assert look(place).contents is Contents.UNKNOWN
    shutil.rmtree(folder_of(place))
    assert look(place).contents is Contents.ABSENT
    deliver(place, 3, "a")
    assert list((tmp_path / place.output().staging).rglob("*")) == []


def test_a_deleted_output_is_gone_although_marked_batches_are_still_staged(
    tmp_path: Path,
) -> None:
    """The mark says that they were published; killed before staging was removed."""
    place = local(tmp_path)
    only = staged(place, 0, "a")
    commit_manifest(place.output(), only)
    published(place.output(), only)
    assert look(place).contents is Contents.UNKNOWN
    shutil.rmtree(folder_of(place))
    (tmp_path / place.output().staged_for(QUERY) / only.staging).mkdir(parents=True, exist_ok=True)
    assert look(place).contents is Contents.ABSENT


def test_a_deleted_output_is_gone_although_a_rewind_is_not_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What stays after the rewind must be there; what is taken back may be gone."""

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    place = local(tmp_path)
    filled(place)
    with monkeypatch.context() as patched:
        patched.setattr("holdfast.ledgers.files.rewinding._remove_void", killed)
        with pytest.raises(KeyboardInterrupt):
            rewind(place.output(), QUERY, 1, generation=1)
    for path in files_of(place, 2):
        path.unlink()
    assert (look(place).held.value, look(place).contents) == (1, Contents.UNKNOWN)
    shutil.rmtree(folder_of(place))
    assert look(place).contents is Contents.ABSENT


def test_a_complete_output_is_missed_although_staging_has_a_leftover(tmp_path: Path) -> None:
    """Only a folder of the newest batch is put back."""
    place = local(tmp_path)
    deliver(place, 0, "a", mode="complete")
    leftover(place, f"{REPLACED}0000000000-abc")
    shutil.rmtree(folder_of(place))
    assert look(place).contents is Contents.ABSENT


def test_rows_of_another_query_are_rows(tmp_path: Path) -> None:
    """This query has none there."""
    place = local(tmp_path)
    filled(place)
    seen = look(place, "another")
    assert (seen.held.answer, seen.contents) == (SinkAnswer.NOTHING, Contents.ROWS)


def test_batches_that_were_taken_back_are_not_missed(tmp_path: Path) -> None:
    """Neither afterwards nor while it is not finished."""
    place = local(tmp_path)
    filled(place)
    rewind(place.output(), QUERY, 0, generation=1)
    assert (look(place).held.value, look(place).contents) == (0, Contents.UNKNOWN)


def test_a_damaged_manifest_is_an_error(tmp_path: Path) -> None:
    """It must not pass for one without files."""
    place = local(tmp_path)
    filled(place)
    (tmp_path / place.output().manifests / QUERY / "0000000002.json").write_bytes(b"{")
    with pytest.raises(SinkError) as caught:
        look(place)
    assert caught.value.code.number == "HF5023"


def test_one_file_is_enough_to_find_that_a_compacted_folder_has_some(tmp_path: Path) -> None:
    """A folder may hold millions, and is looked at in every start after compaction."""
    place = local(tmp_path)
    filled(place)
    shutil.rmtree(folder_of(place))
    for day in range(20):
        (folder_of(place) / f"day={day:02d}").mkdir(parents=True)
        (folder_of(place) / f"day={day:02d}/_delta").mkdir()
    for day in (3, 4, 5):
        for number in range(10):
            (folder_of(place) / f"day={day:02d}/compacted-{number}.csv").write_text("a")
    recorded: list[RecordingReader] = []

    def reading(location: Location, settings: StorageSettings) -> Reader:
        recorded.append(RecordingReader(open_reader(location, settings)))
        return recorded[-1]

    output = FileOutput(parse_location(place.url), place.settings, reading=reading)
    seen = look_at_folder(output, log_of(output), QUERY)
    assert (seen.contents, seen.held.value) == (Contents.ROWS, 2)
    operations = [one for reader in recorded for one in reader.operations]
    assert not any(one.act == "list" for one in operations)
    read = [one.path for one in operations if one.act == "read" and "day=" in one.path]
    assert read[-1].endswith("day=03/compacted-0.csv")
    assert not any("day=04" in one.path or "_delta" in one.path for one in operations)


def test_a_link_that_leads_in_a_circle_is_no_file(tmp_path: Path) -> None:
    place = local(tmp_path)
    filled(place)
    shutil.rmtree(folder_of(place))
    folder_of(place).mkdir()
    (folder_of(place) / "again").symlink_to(folder_of(place))
    assert look(place).contents is Contents.EMPTY


def test_the_newest_generation_is_seen(tmp_path: Path) -> None:
    """Of drivers of this query, and of whoever took batches back, for every query."""
    place = local(tmp_path)
    assert look(place).generation == 0
    filled(place)
    assert (look(place).generation, look(place, None).generation) == (1, 0)
    rewind(place.output(), QUERY, 1, generation=5)
    assert (look(place).generation, look(place, "another").generation) == (5, 0)
    clear(place.output(), generation=9)
    assert {look(place, one).generation for one in (QUERY, "another", None)} == {9}


def test_an_older_copy_put_back_ends_with_an_older_batch(tmp_path: Path) -> None:
    """Files of batch 1 are there and those of batch 2 are not; compaction leaves other names."""
    place = local(tmp_path)
    filled(place)
    assert look(place).rows_up_to is None
    for path in files_of(place, 2):
        path.unlink()
    seen = look(place)
    assert (seen.held.value, seen.rows_up_to) == (2, 1)
    (folder_of(place) / "compacted.parquet").write_text("rows")
    assert look(place).rows_up_to is None


def test_a_batch_is_there_while_one_of_its_files_is(tmp_path: Path) -> None:
    """Retention by partition may take the others."""
    place = local(tmp_path)
    filled(place)
    files_of(place, 2)[0].unlink()
    assert (look(place).rows_up_to, look(place).doubt) == (None, None)
    for path in files_of(place, 2) + files_of(place, 1):
        path.unlink()
    assert look(place).rows_up_to == 0


@pytest.mark.parametrize("left", [range(3), range(2, 3), (0,)])
def test_a_copy_that_is_many_batches_older_ends_with_its_newest_batch(
    tmp_path: Path, left: range
) -> None:
    """However far behind it is, and with the oldest files expired; other names are compaction."""
    place = local(tmp_path)
    filled(place, 12)
    for number in set(range(12)) - set(left):
        for path in files_of(place, number):
            path.unlink()
    seen = look(place)
    assert (seen.held.value, seen.rows_up_to) == (11, max(left))
    (folder_of(place) / "part=0/compacted.csv").write_text("rows")
    assert look(place).rows_up_to is None


def test_files_of_another_query_are_no_older_copy(tmp_path: Path) -> None:
    """Two jobs share the folder, and a consumer moved the files of one of them away."""
    place = local(tmp_path)
    filled(place)
    for path in folder_of(place).rglob("*.csv"):
        path.rename(path.with_name(path.name.replace(QUERY[:8], "0ther0ne")))
    seen = look(place)
    assert (seen.contents, seen.rows_up_to) == (Contents.ROWS, None)
    assert seen.doubt is not None


def test_an_older_copy_of_a_complete_output_is_replaced_by_the_next_batch(tmp_path: Path) -> None:
    place = local(tmp_path)
    for number in range(2):
        deliver(place, number, "a", mode="complete")
    for path in files_of(place, 1):
        path.rename(path.with_name(path.name.replace(f"{1:010d}", f"{0:010d}")))
    assert look(place).rows_up_to is None


def test_an_output_that_a_container_mounts_alone_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """HF5028: its manifests would be in the container's own layer."""

    def mounted(*points: Path) -> FileOutput:
        lines = [f"30 29 8:1 / {one} rw - overlay x rw" for one in (Path("/"), *points)]
        (tmp_path / "mountinfo").write_text("\n".join(lines))
        monkeypatch.setattr("holdfast.ledgers.files.output._MOUNTINFO", tmp_path / "mountinfo")
        return FileOutput(parse_location(str(tmp_path / "out")), StorageSettings())

    with pytest.raises(SinkError) as caught:
        mounted(tmp_path / "out").refuse_unshared()
    assert caught.value.code.number == "HF5028"
    assert f"{tmp_path}/out is a mount point" in caught.value.message
    assert caught.value.next_steps[0] == f"mount {tmp_path} instead, with out inside it"
    mounted(tmp_path / "out", tmp_path / ".holdfast").refuse_unshared()
    mounted(tmp_path, tmp_path / "out" / "day=1").refuse_unshared()
    remote = FileOutput(parse_location("memory://lake/out"), StorageSettings())
    remote.refuse_unshared()
