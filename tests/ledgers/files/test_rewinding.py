"""Rewind and clear against drivers that come late: their batches are never accepted, nor seen."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import holdfast
from holdfast import crashpoints
from holdfast.errors import SinkError
from holdfast.ledgers.files import rewinding as takingback
from holdfast.ledgers.files.commit import FileCommits
from holdfast.ledgers.files.format import INTENT, Intent, encode_intent, staging_name
from holdfast.ledgers.files.manifests import read_manifest_ledger
from holdfast.ledgers.files.outputcheck import OutputState, look_at_output
from holdfast.ledgers.files.publishing import commit_manifest
from tests.drawing import DrawnMoments
from tests.ledgers.files.test_manifests import (
    QUERY,
    Place,
    deliver,
    identity,
    local,
    log_of,
    place,
    published,
    stage_into,
    staged,
)
from tests.ledgers.switching import KilledError, at_every_call, delivered

__all__ = ["place"]


@pytest.fixture
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def filled(place: Place, mode: str = "append") -> None:
    """Let a first driver deliver three batches."""
    driver = FileCommits(place.output())
    for number in range(3):
        delivered(driver, number, f"a{number}", f"b{number}", mode=mode)


def last(place: Place) -> int | None:
    """Give the newest batch that the ledger knows."""
    output = place.output()
    ledger = read_manifest_ledger(output.reader_of(output.manifests))
    return ledger.last_committed(QUERY).value if ledger is not None else None


def looked(place: Place) -> OutputState:
    """Look at everything, as the doctor does."""
    output = place.output()
    seen = look_at_output(
        lambda folder: output.reader_of(f"{output.name}/{folder}" if folder else output.name),
        lambda folder: output.reader_of(f".holdfast/{output.name}/{folder}"),
        all_files=True,
    )
    assert seen is not None
    return seen


def judged(place: Place, *rows: str) -> None:
    """Judge: these rows and no others, for both kinds of readers and for the doctor."""
    seen = place.seen()
    assert seen == Counter(rows), seen
    files = holdfast.committed_files(place.url, place.settings)
    output = place.output()
    texts = [output.reader.read(file.path.partition(f"{output.around.url}/")[2]) for file in files]
    assert Counter(text.decode() for text in texts) == seen
    sight = looked(place)
    assert sight.output is not None
    assert not (sight.output.missing or sight.output.unnamed or sight.damages or sight.gaps)
    assert not (sight.unpublished or sight.intent)
    assert output.files_in(output.staging) == {}


def test_the_epoch_of_what_stays_is_the_same(place: Place) -> None:
    """Only batches that were taken back are written under another name."""
    filled(place)
    driver = FileCommits(place.output())
    driver.rewind(QUERY, 1, generation=1)
    judged(place, "a0", "b0", "a1", "b1")
    assert last(place) == 1
    assert delivered(driver, 1, "x").skipped
    assert not delivered(driver, 2, "new", digest="new").skipped
    judged(place, "a0", "b0", "a1", "b1", "new")
    output = place.output()
    names = sorted(output.files_in(f"{output.manifests}/{QUERY}"))
    assert names[:2] == ["0000000000.json", "0000000001.json"]
    assert names[2].startswith("0000000002.") and len(names) == 3


@pytest.mark.usefixtures("_no_flushing")
def test_a_rewind_that_dies_at_its_fence_at_every_call_of_its_successor(tmp_path: Path) -> None:
    """The successor delivers the batch again only where the files of before are gone."""

    def fenced(place: Place) -> None:
        output = place.output()
        try:
            takingback._fence(output, log_of(output), QUERY, 1, 2, "token")
        except SinkError as error:
            assert error.code.number == "HF5026"

    def judge(place: Place) -> None:
        kept = Counter(("a0", "b0", "a1", "b1"))
        assert place.seen() in (kept + Counter(("a2", "b2")), kept + Counter(("new",)))

    def successor(driver: FileCommits) -> None:
        delivered(driver, 2, "new", generation=3)

    assert at_every_call(tmp_path, filled, successor, fenced, judge) > 10


@pytest.mark.usefixtures("_no_flushing")
@pytest.mark.parametrize("killed", [False, True], ids=["goes-on", "killed"])
def test_a_rewind_at_every_call_of_a_late_driver(
    tmp_path: Path, killed: bool, moments: DrawnMoments
) -> None:
    """And another driver that plans the batches again: nothing of the late one is ever seen."""

    def late(driver: FileCommits) -> None:
        delivered(driver, 3, "a3", "b3")
        delivered(driver, 4, "a4", "b4")

    def rewound(place: Place) -> None:
        FileCommits(place.output()).rewind(QUERY, 1, generation=2)
        assert max(log_of(place.output()).batches(QUERY)) == 1
        successor = FileCommits(place.output())
        delivered(successor, 2, "new2", digest="new", generation=3)
        delivered(successor, 3, "new3", digest="new", generation=3)

    def judge(place: Place) -> None:
        judged(place, "a0", "b0", "a1", "b1", "new2", "new3")
        assert not deliver(place, 3, "x", digest="new", generation=4)
        judged(place, "a0", "b0", "a1", "b1", "new2", "new3")
        with pytest.raises(SinkError) as caught:
            deliver(place, 4, "late", generation=1)
        assert caught.value.code.number == "HF5025"

    drawn = moments(killed, every=2)
    calls = at_every_call(tmp_path, filled, late, rewound, judge, killed=killed, moments=drawn)
    assert calls > 60


@pytest.mark.usefixtures("_no_flushing")
@pytest.mark.parametrize("mode", ["append", "complete"])
@pytest.mark.parametrize("killed", [False, True], ids=["goes-on", "killed"])
def test_a_clear_at_every_call_of_a_late_driver(
    tmp_path: Path, mode: str, killed: bool, moments: DrawnMoments
) -> None:
    def late(driver: FileCommits) -> None:
        delivered(driver, 3, "a3", "b3", mode=mode)

    def cleared(place: Place) -> None:
        FileCommits(place.output()).clear(generation=2)

    def judge(place: Place) -> None:
        assert place.seen() == Counter()
        assert (last(place), holdfast.committed_files(place.url)) == (None, [])
        assert deliver(place, 0, "new", digest="new", generation=2, mode=mode)
        judged(place, "new")

    calls = at_every_call(
        tmp_path, lambda place: filled(place, mode), late, cleared, judge, killed=killed,
        moments=moments(killed, mode == "append", every=2),
    )  # fmt: skip
    assert calls > 30


@pytest.mark.usefixtures("_no_flushing")
def test_an_output_that_is_moved_away_at_every_call_of_a_clear(tmp_path: Path) -> None:
    """A late driver of mode complete moves it between two looks, and would put it back."""

    def before(place: Place) -> None:
        filled(place, "complete")

    def moved(place: Place) -> None:
        output = place.output()
        if output.name in output.reader.names(""):
            away = f"{output.staged_for(QUERY)}/replaced-0000000003-abc"
            output.writer.move_folder(output.name, away)

    def judge(place: Place) -> None:
        output = place.output()
        fenced = not log_of(output).batches(QUERY)
        assert fenced and output.files_in(output.staging) == {}
        assert output.name not in output.reader.names("")

    def late(driver: FileCommits) -> None:
        driver.clear(generation=2)

    assert at_every_call(tmp_path, before, late, moved, judge) > 30


@pytest.mark.usefixtures("_no_flushing")
@pytest.mark.parametrize("everything", [False, True], ids=["rewind", "clear"])
@pytest.mark.parametrize("killed", [False, True], ids=["goes-on", "killed"])
def test_a_successor_at_every_call_of_a_late_rewind(
    tmp_path: Path, everything: bool, killed: bool, moments: DrawnMoments
) -> None:
    """It finishes what was fenced; what was not fenced when it began to write is not taken back."""
    stays = 0 if everything else 2
    old = [f"{one}{number}" for number in range(3) for one in "ab"]

    def late(driver: FileCommits) -> None:
        try:
            if everything:
                driver.clear(generation=2)
            else:
                driver.rewind(QUERY, 0, generation=2)
        except SinkError as error:
            assert error.code.number == "HF5026"

    def successor(place: Place) -> None:
        driver = FileCommits(place.output())
        following = (last(place) if last(place) is not None else -1) + 1  # type: ignore[operator]
        delivered(driver, following, f"n{following}", digest="new", generation=3)

    def judge(place: Place) -> None:
        fenced = last(place) != 3
        assert last(place) == (3 if not fenced else 0 if everything else 1)
        rows = [*old, "n3"] if not fenced else [*old[:stays], f"n{last(place)}"]
        assert not deliver(place, last(place) or 0, "x", digest="new", generation=4)
        judged(place, *rows)

    drawn = moments(killed, everything, every=2)
    calls = at_every_call(tmp_path, filled, late, successor, judge, killed=killed, moments=drawn)
    assert calls > 15


@pytest.mark.usefixtures("_no_flushing")
@pytest.mark.parametrize("killed", [False, True], ids=["goes-on", "killed"])
def test_mode_complete_a_successor_at_every_call_of_a_late_clear(
    tmp_path: Path, killed: bool, moments: DrawnMoments
) -> None:
    """The output that the late one finds may be the successor's."""

    def late(driver: FileCommits) -> None:
        try:
            driver.clear(generation=2)
        except SinkError as error:
            assert error.code.number == "HF5026"

    def successor(place: Place) -> None:
        newest = last(place)
        following = 0 if newest is None else newest + 1
        driver = FileCommits(place.output())
        delivered(driver, following, "n", digest="new", generation=3, mode="complete")

    def judge(place: Place) -> None:
        if not killed:
            assert place.seen() == Counter("n")
        newest = last(place)
        assert newest in (0, 3)
        assert not deliver(place, newest, "x", digest="new", generation=4, mode="complete")
        judged(place, "n")

    def before(place: Place) -> None:
        filled(place, "complete")

    drawn = moments(killed, every=2)
    calls = at_every_call(tmp_path, before, late, successor, judge, killed=killed, moments=drawn)
    assert calls > 30


def test_a_void_manifest_is_explained_and_counts_for_nobody(place: Place) -> None:
    """A late driver created it after the fence, and found out before it published anything."""
    filled(place)
    FileCommits(place.output()).rewind(QUERY, 1, generation=2)
    late = staged(place, 2, "x", "y")
    assert commit_manifest(place.output(), late)
    writer = place.output().writer

    class Moving:
        """Must not be asked to move anything."""

        def __getattr__(self, name: str) -> object:
            assert name != "move"
            return getattr(writer, name)

    moving = place.output(lambda _, __: Moving())  # type: ignore[arg-type,return-value]
    with pytest.raises(SinkError, match="batch 2 was rewound") as caught:
        published(moving, late)
    assert caught.value.code.number == "HF5025"
    assert looked(place).void == (f"{QUERY}/0000000002.json",)
    assert last(place) == 1
    assert deliver(place, 2, "new", digest="new", generation=2)
    judged(place, "a0", "b0", "a1", "b1", "new")
    FileCommits(place.output()).rewind(QUERY, 1, generation=2)
    assert looked(place).void == ()


@pytest.mark.parametrize("copied", [1, 2])
def test_files_that_come_after_all_are_removed_by_the_late_driver(
    tmp_path: Path, copied: int
) -> None:
    """Where moving is copying, a copy may end after the batch was taken back."""
    place = local(tmp_path)
    filled(place)
    output = place.output()
    late = staged(place, 3, "x", "y")
    assert commit_manifest(output, late)

    class Slow:
        """Takes the batch back in the middle of a copy."""

        def __init__(self) -> None:
            self.copies = 0

        def __getattr__(self, name: str) -> object:
            return getattr(output.writer, name)

        def move(self, source: str, target: str) -> None:
            content = output.reader.read(source)
            self.copies += 1
            if self.copies == copied:
                FileCommits(place.output()).rewind(QUERY, 2, generation=2)
            output.writer.replace(target, (content,))

    slow = place.output(lambda _, __: Slow())  # type: ignore[arg-type,return-value]
    with pytest.raises(SinkError):
        published(slow, late)
    assert place.seen() == Counter(f"{one}{number}" for number in range(3) for one in "ab")


def test_an_older_lease_takes_nothing_back(place: Place) -> None:
    filled(place)
    deliver(place, 3, "c", generation=5)
    late = FileCommits(place.output())
    acts: tuple[Callable[[], None], ...] = (
        lambda: late.rewind(QUERY, 1, generation=4),
        lambda: late.clear(generation=4),
    )
    for act in acts:
        with pytest.raises(SinkError, match="generation 5 has written here") as caught:
            act()
        assert caught.value.code.number == "HF5026"
    assert last(place) == 3
    FileCommits(place.output()).clear(generation=5)
    assert last(place) is None


def test_a_clear_keeps_the_batches_of_a_query_that_is_not_meant(place: Place) -> None:
    """Two jobs share the folder: their files would be removed, and never delivered again."""
    filled(place)
    other = "00000000-4a52-4f0b-9d0e-0c3b1f7f4d11"
    output = place.output()
    name = staging_name(0, 1)
    theirs = replace(
        stage_into(output, f"{output.staged_for(other)}/{name}", identity(0), "z"), query_id=other
    )
    commit_manifest(output, theirs)
    published(output, theirs)
    seen = place.seen()
    commits = FileCommits(place.output())
    for queries in (None, (QUERY,), (other,)):
        with pytest.raises(SinkError) as caught:
            commits.clear(generation=2, queries=queries)
        assert caught.value.code.number == "HF5011"
        assert (place.seen(), last(place)) == (seen, 2)
    commits.clear(generation=2, queries=(QUERY, other))
    assert (place.seen(), last(place)) == (Counter(), None)


def test_a_late_batch_after_a_rewind_that_took_nothing(place: Place) -> None:
    """The fence stands also where nothing was to be taken back, or the batch never came."""
    filled(place)
    old = FileCommits(place.output())
    assert delivered(old, 2, "a2", "b2").skipped
    FileCommits(place.output()).rewind(QUERY, 7, generation=2)
    with pytest.raises(SinkError) as caught:
        delivered(old, 3, "late")
    assert caught.value.code.number == "HF5025"
    assert commit_manifest(place.output(), staged(place, 3, "late"))
    assert last(place) == 2
    assert deliver(place, 3, "new", digest="new", generation=2)
    assert place.seen().keys() >= {"new", "a2"} and "late" not in place.seen()


@pytest.mark.parametrize("everything", [False, True], ids=["rewind", "clear"])
def test_what_an_older_version_began_is_finished(place: Place, everything: bool) -> None:
    """Its intent was all that it left; readers see the end of it before anybody writes."""
    filled(place)
    output = place.output()
    intent = Intent(None, -1) if everything else Intent(QUERY, 0)
    output.writer.create(f"{output.manifests}/{INTENT}", (encode_intent(intent),))
    (first, *_) = sorted(path for path in output.files_in(output.name) if "0000000002" in path)
    output.writer.remove(f"{output.name}/{first}")
    assert last(place) == (None if everything else 0)
    assert looked(place).intent == intent
    batch = 0 if everything else 1
    assert deliver(place, batch, "new", digest="new")
    judged(place, *(() if everything else ("a0", "b0")), "new")
    assert log_of(output).intent() is None


def test_versions_without_epochs_stop(place: Place) -> None:
    """To them the newest batch would be the last that was not taken back."""
    filled(place)
    output = place.output()
    before = output.reader_of(output.manifests).names("-epochs")
    assert not any(name.endswith(".json") for name in before)
    FileCommits(output).rewind(QUERY, 0, generation=1)
    folder = min(output.reader_of(output.manifests).names(""))
    assert folder == "-epochs"
    assert "0000000000.json" in output.reader_of(output.manifests).names(folder)


@pytest.mark.parametrize("point", ["fenced", "staging-taken-back", "files-taken-back"])
@pytest.mark.parametrize("mode", ["append", "complete"])
def test_killed_at_each_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str, mode: str
) -> None:
    """The next start finishes it; readers of manifests see the end of it already."""
    place = local(tmp_path)
    filled(place, mode)

    def die() -> None:
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(crashpoints, "_wanted", f"files.{point}")
        patched.setattr(crashpoints, "_die", die)
        crashpoints._reached.clear()
        with pytest.raises(KilledError):
            FileCommits(place.output()).clear(generation=2)
    assert (last(place), holdfast.committed_files(place.url)) == (None, [])
    assert looked(place).intent == Intent(None, -1)
    assert deliver(place, 0, "new", generation=3, digest="new", mode=mode)
    judged(place, "new")


@pytest.mark.usefixtures("_no_flushing")
@pytest.mark.parametrize("killed", [False, True], ids=["goes-on", "killed"])
def test_mode_complete_keeps_the_newest_output_that_was_not_taken_back(
    tmp_path: Path, killed: bool, moments: DrawnMoments
) -> None:
    """A rewind that takes nothing back, at every call of a late driver that replaces the output."""
    refused: list[str] = []

    def late(driver: FileCommits) -> None:
        delivered(driver, 3, "a3", "b3", mode="complete")

    def rewound(place: Place) -> None:
        try:
            FileCommits(place.output()).rewind(QUERY, 2, generation=2)
        except SinkError as error:
            assert error.code.number == "HF5011"
            refused.append(place.url)

    def judge(place: Place) -> None:
        newest = 3 if place.url in refused else 2
        assert last(place) == newest
        assert not deliver(place, newest, "x", generation=3, mode="complete")
        judged(place, f"a{newest}", f"b{newest}")

    def before(place: Place) -> None:
        filled(place, "complete")

    drawn = moments(killed, every=2)
    calls = at_every_call(tmp_path, before, late, rewound, judge, killed=killed, moments=drawn)
    assert 0 < len(refused) < calls
