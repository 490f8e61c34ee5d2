"""Late drivers and their successors: whoever goes on when, every batch is there once and whole."""

from __future__ import annotations

import os
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import SinkError, StorageError
from holdfast.ledgers.files.commit import FileCommits, sink_errors
from holdfast.ledgers.files.format import Manifest
from holdfast.ledgers.files.manifests import manifest_path, mark_path
from holdfast.ledgers.files.publishing import commit_manifest, publish
from holdfast.ledgers.files.startcheck import look_at_folder
from holdfast.ledgers.sinkstate import Contents
from tests.drawing import DrawnMoments
from tests.ledgers.files.test_manifests import (
    QUERY,
    Place,
    cleaned,
    deliver,
    identity,
    local,
    log_of,
    place,
    rolled_forward,
    stage_into,
    staged,
    watch_of,
)
from tests.ledgers.switching import at_every_call, delivered

__all__ = ["place"]


@pytest.fixture
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _: None)


def mark(place: Place, manifest: Manifest) -> str:
    """Give where the mark of a batch is."""
    return f"{place.output().published}/{mark_path(manifest)}"


def half_published(place: Place, manifest: Manifest) -> None:
    """Commit a batch, and publish its first file."""
    output = place.output()
    assert commit_manifest(output, manifest)
    first = manifest.files[0]
    folder = f"{output.staged_for(QUERY)}/{manifest.staging}"
    output.writer.move(f"{folder}/{first.staged}", f"{output.name}/{first.path}")


def test_a_late_clean_up_spares_what_the_successor_publishes(place: Place) -> None:
    """The successor committed the next batch and published half of it."""
    deliver(place, 0, "a")
    half_published(place, staged(place, 1, "b", "c", generation=2))
    cleaned(place.output(), generation=1)
    assert not deliver(place, 1, "b", "c", generation=3)
    assert place.seen() == Counter("abc")
    assert place.output().files_in(place.output().staging) == {}


def test_a_batch_that_a_late_driver_committed_is_published_before_it_is_skipped(
    place: Place,
) -> None:
    """The successor is past its own clean-up; the next batch must not remove what is staged."""
    successor = FileCommits(place.output())
    delivered(successor, 0, "a", generation=2)
    assert commit_manifest(place.output(), staged(place, 1, "b", "c", generation=1))
    assert delivered(successor, 1, "b", "c", generation=2).skipped
    assert place.seen() == Counter("abc")
    assert not delivered(successor, 2, "d", generation=2).skipped
    assert place.seen() == Counter("abcd")


def test_a_commit_between_rolling_forward_and_removing(place: Place) -> None:
    """Of any query that writes the folder: what is not marked stays."""
    output = place.output()
    rolled_forward(output)
    half_published(place, staged(place, 0, "a", "b"))
    cleaned(output)
    rolled_forward(output)
    assert place.seen() == Counter("ab")
    assert [one.batch_id for one in holdfast.committed_files(place.url, place.settings)] == [0, 0]


def test_a_marked_batch_is_never_published_again(place: Place) -> None:
    """Retention expired its files, and its staging folder was not removed to the end."""
    output = place.output()
    manifest = staged(place, 0, "a", "b")
    assert commit_manifest(output, manifest)
    publish(output, log_of(output), watch_of(output), manifest)
    assert output.is_there(mark(place, manifest))
    for file in manifest.files:
        output.writer.remove(f"{output.name}/{file.path}")
    folder = f"{output.staged_for(QUERY)}/{manifest.staging}"
    output.writer.replace(f"{folder}/{manifest.files[0].staged}", (b"a",))
    assert not deliver(place, 0, "a", "b")
    assert place.seen() == Counter()
    assert output.files_in(output.staging) == {}


def test_a_late_publisher_asks_for_the_mark_before_it_calls_a_file_lost(place: Place) -> None:
    output = place.output()
    manifest = staged(place, 0, "a", "b")
    assert commit_manifest(output, manifest)
    publish(output, log_of(output), watch_of(output), manifest)
    cleaned(output)
    for file in manifest.files:
        output.writer.remove(f"{output.name}/{file.path}")
    publish(output, log_of(output), watch_of(output), manifest)
    assert place.seen() == Counter()


def test_batches_of_older_versions_have_no_mark(place: Place) -> None:
    """They are complete where their staging folder is gone: nothing is published again."""
    output = place.output()
    manifest = replace(staged(place, 0, "a", "b"), marked=False)
    assert commit_manifest(output, manifest)
    output.remove_tree(f"{output.staged_for(QUERY)}/{manifest.staging}")
    assert not deliver(place, 0, "a", "b")
    assert deliver(place, 1, "c")
    assert place.seen() == Counter("c")
    assert not output.is_there(mark(place, manifest))


def test_staging_that_was_wiped_is_not_taken_for_published(place: Place) -> None:
    """A person freed space, or a driver of an older version cleaned up after the commit."""
    output = place.output()
    manifest = staged(place, 0, "a", "b")
    assert commit_manifest(output, manifest)
    output.remove_tree(f"{output.staged_for(QUERY)}/{manifest.staging}")
    with pytest.raises(SinkError) as caught:
        deliver(place, 0, "a", "b")
    assert caught.value.code.number == "HF5022"


def test_attempts_of_a_newer_driver_are_left_to_it(place: Place) -> None:
    """It may still be staging; it finds the batch committed, and removes them itself."""
    deliver(place, 0, "a", generation=1)
    attempt = staged(place, 0, "a", generation=2)
    cleaned(place.output(), generation=1)
    output = place.output()
    assert len(output.files_in(output.staging)) == 2
    assert not commit_manifest(output, attempt)
    cleaned(output, generation=2)
    assert output.files_in(output.staging) == {}


def whole(place: Place, *batches: str) -> None:
    """Judge: every row once, for both kinds of readers; one more start does nothing."""
    generation = 9
    for number, rows in enumerate(batches):
        assert not deliver(place, number, *rows, generation=generation), number
    seen = place.seen()
    assert seen == Counter("".join(batches)), seen
    files = holdfast.committed_files(place.url)
    assert Counter(Path(file).read_text() for file in files) == seen
    output = place.output()
    assert output.files_in(output.staging) == {}
    assert log_of(output).batches(QUERY) == tuple(range(len(batches)))


@pytest.mark.usefixtures("_no_flushing")
@pytest.mark.parametrize("killed", [False, True], ids=["goes-on", "killed"])
def test_a_successor_at_every_call_of_a_late_driver(
    tmp_path: Path, killed: bool, moments: DrawnMoments
) -> None:
    """It delivers the same batch and the next; the late driver wakes up, or is gone."""

    def before(place: Place) -> None:
        deliver(place, 0, "a", "b")

    def successor(place: Place) -> None:
        driver = FileCommits(place.output())
        for number, rows in enumerate(("ab", "cd", "ef")):
            delivered(driver, number, *rows, generation=2)

    def late(driver: FileCommits) -> None:
        delivered(driver, 1, "c", "d", generation=1)
        delivered(driver, 2, "e", "f", generation=1)

    calls = at_every_call(
        tmp_path, before, late, successor, lambda place: whole(place, "ab", "cd", "ef"),
        killed=killed, moments=moments(killed, every=2),
    )  # fmt: skip
    assert calls > 60


@pytest.mark.usefixtures("_no_flushing")
def test_a_late_driver_at_every_call_of_its_successor(tmp_path: Path) -> None:
    """It commits the batch that the successor is about to deliver, and dies before publishing."""

    def before(place: Place) -> None:
        deliver(place, 0, "a", "b")

    def late(place: Place) -> None:
        commit_manifest(place.output(), staged(place, 1, "c", "d", generation=1))

    def successor(driver: FileCommits) -> None:
        delivered(driver, 1, "c", "d", generation=2)
        delivered(driver, 2, "e", "f", generation=2)

    calls = at_every_call(
        tmp_path, before, successor, late, lambda place: whole(place, "ab", "cd", "ef")
    )
    assert calls > 60


@pytest.mark.usefixtures("_no_flushing")
@pytest.mark.parametrize("killed", [False, True], ids=["goes-on", "killed"])
@pytest.mark.parametrize("rows", ["cd", ""], ids=["rows", "empty"])
def test_mode_complete_at_every_call_of_a_late_driver(
    tmp_path: Path, killed: bool, rows: str, moments: DrawnMoments
) -> None:
    """The newest output is never lost, nor replaced by an older one, nor nested into one."""

    def before(place: Place) -> None:
        deliver(place, 0, "a", "b", mode="complete")

    def successor(place: Place) -> None:
        driver = FileCommits(place.output())
        delivered(driver, 1, "x", generation=2, mode="complete")
        delivered(driver, 2, *rows, generation=2, mode="complete")

    def late(driver: FileCommits) -> None:
        delivered(driver, 1, "x", generation=1, mode="complete")

    def judge(place: Place) -> None:
        # Also before the next start, unless the late driver died with the output in its hands.
        assert killed or place.output().name in place.output().reader.names("")
        assert not deliver(place, 2, *rows, generation=3, mode="complete")
        output = place.output()
        shown = {path for path in output.files_in(output.name) if not path.startswith("_")}
        assert Counter(
            output.reader.read(f"{output.name}/{path}").decode() for path in shown
        ) == Counter(rows)
        assert Counter(
            Path(file).read_text() for file in holdfast.committed_files(place.url)
        ) == Counter(rows)
        assert output.files_in(output.staging) == {}

    drawn = moments(killed, bool(rows), every=2)
    calls = at_every_call(tmp_path, before, late, successor, judge, killed=killed, moments=drawn)
    assert calls > 40


@pytest.mark.usefixtures("_no_flushing")
def test_mode_complete_a_late_driver_at_every_call_of_its_successor(tmp_path: Path) -> None:
    """It replaces the output as far as it gets, between any two calls of the successor."""

    def before(place: Place) -> None:
        deliver(place, 0, "a", "b", mode="complete")

    def late(place: Place) -> None:
        # Paused since before batch 1 was committed: it holds a manifest that it is to publish.
        output = place.output()
        manifest = log_of(output).manifest(QUERY, 1)
        if manifest is not None:
            publish(output, log_of(output), watch_of(output), manifest)

    def successor(driver: FileCommits) -> None:
        delivered(driver, 1, "c", "d", generation=2, mode="complete")
        delivered(driver, 2, "e", "f", generation=2, mode="complete")

    def judge(place: Place) -> None:
        assert not deliver(place, 2, "e", "f", generation=3, mode="complete")
        assert place.seen() == Counter("ef")
        assert place.output().files_in(place.output().staging) == {}

    assert at_every_call(tmp_path, before, successor, late, judge) > 40


def test_an_output_that_was_moved_away_is_brought_back(tmp_path: Path) -> None:
    """A late driver moved the newest one away and died; an older one may be in its place."""
    place = local(tmp_path)
    deliver(place, 0, "a", mode="complete")
    deliver(place, 1, "b", mode="complete")
    output = place.output()
    away = f"{output.staged_for(QUERY)}/replaced-0000000000-abc"
    output.writer.move_folder(output.name, away)
    output.writer.replace(f"{output.name}/part-older.csv", (b"a",))
    assert not deliver(place, 1, "b", mode="complete", generation=2)
    assert place.seen() == Counter("b")
    assert output.files_in(output.staging) == {}


def test_a_failed_attempt_is_removed_by_its_owner(place: Place) -> None:
    commits = FileCommits(place.output())

    def stage(folder: str) -> Manifest:
        stage_into(place.output(), folder, identity(0), "a")
        raise ValueError("on purpose")

    with pytest.raises(ValueError, match="on purpose"):
        commits.deliver(identity(0), stage)
    assert place.output().files_in(place.output().staging) == {}
    assert not delivered(commits, 0, "a").skipped


def test_what_keeps_manifests_from_being_read_is_told() -> None:
    with pytest.raises(SinkError, match="here can't be asked: no") as caught, sink_errors("here"):
        raise StorageError("HF7002", "no")
    assert caught.value.code.number == "HF5009"


def test_an_output_that_is_removed_while_the_job_runs_stops_it(tmp_path: Path) -> None:
    """Before anything is committed; put back, or judged by the next start, the job continues."""
    place = local(tmp_path)
    commits = FileCommits(place.output())
    for batch_id, row in enumerate("abc"):
        delivered(commits, batch_id, row)
    out = tmp_path / "out"
    out.rename(tmp_path / "elsewhere")
    for _ in range(2):
        with pytest.raises(SinkError) as caught:
            delivered(commits, 3, "d")
        assert (caught.value.code.number, caught.value.exit_status) == ("HF5027", 50)
    output = place.output()
    assert not out.exists()
    assert log_of(output).batches(QUERY) == (0, 1, 2)
    assert output.files_in(output.staging) == {}
    (tmp_path / "elsewhere").rename(out)
    assert not delivered(commits, 3, "d").skipped
    assert place.seen() == Counter("abcd")


def test_an_output_that_is_removed_before_the_first_batch_of_a_run_stops_it(
    tmp_path: Path,
) -> None:
    """A stream may wait for hours: what the start saw counts, for a batch to skip as well."""
    place = local(tmp_path)
    assert commit_manifest(place.output(), staged(place, 0, "a"))
    first = FileCommits(place.output())
    assert first.look()
    assert delivered(first, 0, "a").skipped
    assert place.seen() == Counter("a"), "killed before it published: the folder is created"
    second = FileCommits(place.output())
    assert second.look()
    shutil.rmtree(tmp_path / "out")
    for batch_id in (0, 1):
        with pytest.raises(SinkError) as caught:
            delivered(second, batch_id, "a", generation=2)
        assert caught.value.code.number == "HF5027"
    accepted = FileCommits(place.output())
    assert accepted.look()
    assert not delivered(accepted, 1, "b", generation=2).skipped
    assert place.seen() == Counter("b")


@pytest.mark.parametrize(
    ("module", "point"),
    [("commit", "sink.before-commit"), ("commit", "sink.after-commit"),
     ("publishing", "files.published-one")],
)  # fmt: skip
def test_an_output_that_is_removed_while_a_batch_is_computed_stops_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: str, point: str
) -> None:
    """Published into a new folder, the batch would be all that is in it, and nobody would know."""
    place = local(tmp_path)
    commits = FileCommits(place.output())
    for batch_id, row in enumerate("abc"):
        delivered(commits, batch_id, row)

    def remove(name: str) -> None:
        if name == point:
            monkeypatch.undo()
            shutil.rmtree(tmp_path / "out")

    monkeypatch.setattr(f"holdfast.ledgers.files.{module}.reach", remove)
    with pytest.raises(SinkError, match="was removed while the job ran") as caught:
        delivered(commits, 3, "d", "e", "f")
    assert caught.value.code.number == "HF5027"
    assert "Nothing of this batch was written" not in (caught.value.why or "")
    seen = look_at_folder(place.output(), log_of(place.output()), QUERY)
    if module == "commit":
        assert not (tmp_path / "out").exists()
        assert seen.contents is Contents.ABSENT, "the next start refuses it"
    else:
        assert seen.doubt is not None, "the next start warns of it"
    accepted = FileCommits(place.output())
    assert accepted.look()
    if module == "commit":
        assert delivered(accepted, 3, "d", "e", "f", generation=2).skipped
        assert place.seen() == Counter("def")


def test_an_emptied_output_and_one_of_mode_complete_go_on(tmp_path: Path) -> None:
    """Retention empties a folder; in mode complete the next batch writes all of it."""
    place = local(tmp_path)
    commits = FileCommits(place.output())
    delivered(commits, 0, "a")
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "out").mkdir()
    delivered(commits, 1, "b")
    assert place.seen() == Counter("b")
    whole = local(tmp_path / "complete")
    replaced = FileCommits(whole.output())
    delivered(replaced, 0, "a", mode="complete")
    shutil.rmtree(tmp_path / "complete/out")
    delivered(replaced, 1, "b", mode="complete")
    assert whole.seen() == Counter("b")


def test_a_batch_whose_manifest_vanished_while_the_job_runs_stops_it(tmp_path: Path) -> None:
    """An older copy was put back under the job: what it delivered last is missing."""
    place = local(tmp_path)
    commits = FileCommits(place.output())
    for batch_id, row in enumerate("abc"):
        delivered(commits, batch_id, row)
    (manifest,) = (tmp_path / ".holdfast").rglob(manifest_path(QUERY, 2))
    kept = manifest.read_bytes()
    manifest.unlink()
    for _ in range(2):
        with pytest.raises(SinkError, match="delivered batch 2") as caught:
            delivered(commits, 3, "d")
        assert caught.value.code.number == "HF5027"
    assert log_of(place.output()).batches(QUERY) == (0, 1)
    manifest.write_bytes(kept)
    assert not delivered(commits, 3, "d").skipped
    assert place.seen() == Counter("abcd")
