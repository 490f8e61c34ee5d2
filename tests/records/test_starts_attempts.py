"""Starts that failed early: kept beside the checkpoint, few, without touching lease or folders."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.errors import StorageError
from holdfast.records.folder import RecordsFolder
from holdfast.records.run import Ended, Run
from holdfast.records.starts import KEPT_ATTEMPTS, Attempt, Attempts
from holdfast.redaction import remember_secret
from holdfast.storage.location import parse_location
from holdfast.storage.memory import MemoryReader
from holdfast.storage.options import StorageSettings
from tests.records.drivers import records_in, taken
from tests.records.runs import some_run


def some_attempt(second: int = 0, **changes: object) -> Attempt:
    """Return an attempt that was refused at a second after ten."""
    attempt = Attempt(
        at=f"2026-03-01T10:00:{second:02d}.000Z",
        job="orders",
        project="shop",
        ended=Ended.REFUSED,
        code="HF3013",
        message="the table is gone",
        exit_status=30,
        page="HF3013",
        why="rows would be missing",
        next=("put the output back",),
        place="holdfast.yaml:7",
        host="host-7",
        process=4711,
        user="anna",
        holdfast="0.1.0",
        spark="4.2.0",
    )
    return replace(attempt, **changes)  # type: ignore[arg-type]


def folder_of(folder: Path) -> Path:
    return folder / ".holdfast" / "orders" / "attempts"


def run_at(second: int, generation: int = 3) -> Run:
    return replace(some_run(generation), started_at=f"2026-03-01T10:00:{second:02d}.000Z")


def test_attempts_come_newest_first_and_those_without_a_generation_by_time(tmp_path: Path) -> None:
    attempts = Attempts(records_in(tmp_path))
    for second in (3, 11, 7):
        attempts.write(some_attempt(second))
    assert attempts.since() == tuple(map(some_attempt, (11, 7, 3)))
    assert attempts.since(run_at(3)) == tuple(map(some_attempt, (11, 7)))
    assert attempts.since(run_at(11)) == ()


def test_a_generation_counts_whatever_the_clock_of_an_attempt_said(tmp_path: Path) -> None:
    """One that ran behind is not missed, one that ran ahead does not stay."""
    attempts = Attempts(records_in(tmp_path))
    behind = some_attempt(at="2016-01-01T00:00:00.000Z", after=3)
    ahead = some_attempt(at="2036-01-01T00:00:00.000Z", after=2)
    old = some_attempt(7)
    for one in (behind, ahead, old):
        attempts.write(one)
    assert attempts.since(run_at(3)) == (behind, old)
    assert attempts.since() == (behind, ahead, old)


def test_records_without_a_generation_in_their_name_are_read(tmp_path: Path) -> None:
    """As the first releases named them."""
    attempts = Attempts(records_in(tmp_path))
    behind = some_attempt(at="2016-01-01T00:00:00.000Z", after=3)
    attempts.write(behind)
    (file,) = folder_of(tmp_path).glob("*.json")
    file.rename(file.with_name(file.name.replace("-after-3", "")))
    assert attempts.since(run_at(3)) == (behind,)
    assert attempts.since(run_at(3, 4)) == ()


def test_what_came_before_the_run_is_not_read(tmp_path: Path) -> None:
    attempts = Attempts(records_in(tmp_path))
    attempts.write(some_attempt(3, after=2))
    (document,) = folder_of(tmp_path).iterdir()
    document.write_bytes(b"cut")
    assert (attempts.since(run_at(1)), attempts.damages) == ((), ())
    assert (attempts.since(run_at(1, 2)), len(attempts.damages)) == ((), 1)


def test_two_of_one_millisecond_are_both_kept(tmp_path: Path) -> None:
    attempts = Attempts(records_in(tmp_path))
    attempts.write(some_attempt(1, process=1))
    attempts.write(some_attempt(1, process=2))
    assert {one.process for one in attempts.since()} == {1, 2}


def test_the_newest_are_kept(tmp_path: Path) -> None:
    attempts = Attempts(records_in(tmp_path))
    (tmp_path / ".holdfast/orders/attempts").mkdir(parents=True)
    (folder_of(tmp_path) / "notes.txt").write_text("not ours")
    for second in range(KEPT_ATTEMPTS + 5):
        attempts.write(some_attempt(second))
    found = attempts.since()
    assert [one.at[17:19] for one in found] == [f"{second:02d}" for second in range(24, 4, -1)]
    assert len(list(folder_of(tmp_path).iterdir())) == KEPT_ATTEMPTS + 1


def test_the_folder_around_the_checkpoint_is_not_made(tmp_path: Path) -> None:
    """A mistyped path leaves nothing behind, and the checkpoint does not come into being."""
    Attempts(records_in(tmp_path / "mistyped")).write(some_attempt())
    assert list(tmp_path.iterdir()) == []
    Attempts(records_in(tmp_path)).write(some_attempt())
    assert [one.name for one in tmp_path.iterdir()] == [".holdfast"]


def test_inside_the_project_the_folder_around_the_checkpoint_is_made(tmp_path: Path) -> None:
    """The first start of a project that fails has to be seen, and checkpoints/ is not there yet."""
    project = tmp_path / "shop"
    project.mkdir()
    Attempts(records_in(tmp_path / "elsewhere")).write(some_attempt(), project=project)
    assert list(tmp_path.iterdir()) == [project]
    inside = Attempts(records_in(project / "checkpoints"))
    inside.write(some_attempt(), project=project)
    assert len(inside.since()) == 1


@pytest.mark.parametrize(
    ("place", "there", "written"),
    [
        ("s3://bucket/base/orders", {}, False),
        ("s3://bucket/base/orders", {"invoices/metadata": b"{}"}, True),
        ("s3://bucket/orders", {}, True),
    ],
)
def test_in_a_bucket_a_prefix_with_nothing_in_it_is_not_begun(
    place: str, there: dict[str, bytes], written: bool
) -> None:
    asked: list[str] = []

    class Opened(Exception):  # noqa: N818 - not an error: the writer was asked for
        """The attempt is about to be written."""

    def opened(*_: object) -> MemoryReader:
        raise Opened

    def around(location: object, _settings: object) -> MemoryReader:
        asked.append(str(getattr(location, "url", "")))
        return MemoryReader(there)

    location = parse_location(place.replace("orders", ".holdfast/orders"))
    folder = RecordsFolder(location, StorageSettings(), open_writer=opened, open_reader=around)  # type: ignore[arg-type]
    if written:
        with pytest.raises(Opened):
            Attempts(folder).write(some_attempt())
    else:
        Attempts(folder).write(some_attempt())
    assert asked[1:] in ([], ["s3://bucket/base"]), "after the records themselves"


def test_damaged_and_foreign_documents_are_reported_and_the_rest_given(tmp_path: Path) -> None:
    attempts = Attempts(records_in(tmp_path))
    for second in (1, 2, 3):
        attempts.write(some_attempt(second))
    oldest, foreign, cut = sorted(folder_of(tmp_path).iterdir())
    cut.write_bytes(b"")
    foreign.write_bytes(oldest.read_bytes())
    assert attempts.since() == (some_attempt(1),)
    assert [one.code.number for one in attempts.damages] == ["HF2603", "HF2603"]
    assert "belongs to another start" in attempts.damages[1].message


def test_no_secret_is_written_and_a_long_message_is_bounded(tmp_path: Path) -> None:
    remember_secret("hunter2-attempts")
    message = "could not connect with hunter2-attempts " + "x" * 100_000
    Attempts(records_in(tmp_path)).write(some_attempt(message=message, next=("hunter2-attempts",)))
    (document,) = folder_of(tmp_path).iterdir()
    text = document.read_text()
    assert "hunter2" not in text and len(text) < 20_000


def test_an_attempt_takes_no_generation_and_fences_nobody(tmp_path: Path) -> None:
    folder = records_in(tmp_path)
    lease = taken(folder)
    before = sorted((tmp_path / ".holdfast/orders/lease").iterdir())
    Attempts(records_in(tmp_path)).write(some_attempt())
    assert sorted((tmp_path / ".holdfast/orders/lease").iterdir()) == before
    lease.confirm()
    lease.release()
    assert taken(folder).generation == lease.generation + 1


def test_a_place_that_cannot_be_written_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / ".holdfast").write_text("a file in the way")
    with pytest.raises(StorageError):
        Attempts(records_in(tmp_path)).write(some_attempt())


def test_attempts_of_a_clock_that_ran_ahead_do_not_outlive_new_ones(tmp_path: Path) -> None:
    """What is written now is kept, and takes the place of what is dated after it."""
    attempts = Attempts(records_in(tmp_path))
    for second in range(KEPT_ATTEMPTS):
        attempts.write(some_attempt(at=f"2036-01-01T00:00:{second:02d}.000Z"))
    for second in range(KEPT_ATTEMPTS):
        attempts.write(some_attempt(second))
        assert some_attempt(second) in attempts.since()
    assert {one.at[:4] for one in attempts.since()} == {"2026"}


@pytest.mark.parametrize(("after", "expected"), [(3, False), (4, False), (2, True)])
def test_a_run_that_began_later_is_told_by_its_generation(after: int, expected: bool) -> None:
    """Whatever the clocks said; an older record knows only the time."""
    ahead = some_attempt(at="2036-01-01T00:00:00.000Z", after=after)
    assert ahead.is_before(some_run(3)) is expected
    assert not replace(ahead, after=None).is_before(some_run(3))
