"""Manifests without Spark: what is committed is published once, wherever a driver dies."""

from __future__ import annotations

import os
import shutil
import uuid
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path

import pytest

import holdfast
from holdfast.errors import SinkError, StorageError
from holdfast.ledgers.files.commit import FileCommits
from holdfast.ledgers.files.epochlog import EpochWatch
from holdfast.ledgers.files.format import (
    INTENT,
    Epochs,
    Fence,
    Intent,
    Manifest,
    ManifestFile,
    decode_manifest,
    encode_manifest,
    staging_name,
)
from holdfast.ledgers.files.manifests import ManifestLog, read_manifest_ledger
from holdfast.ledgers.files.output import FileOutput, Opener
from holdfast.ledgers.files.publishing import (
    commit_manifest,
    publish,
    remove_leftovers,
    roll_forward,
)
from holdfast.ledgers.files.rewinding import clear, rewind
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.reading import ask_sink
from holdfast.ledgers.sinkstate import NOT_COMMITTED, UNKNOWN, committed_with
from holdfast.storage.location import parse_location
from holdfast.storage.opening import open_reader, open_writer
from holdfast.storage.options import StorageSettings
from tests.backup.writers import STRIKES, Moments
from tests.drawing import DrawnMoments
from tests.storage.s3server import S3Server

QUERY = "c1a5e0f6-4a52-4f0b-9d0e-0c3b1f7f4d11"
Strike = Callable[[Callable[[Opener], object], int], bool]


@dataclass(frozen=True)
class Place:
    """A place where a sink may write."""

    url: str
    settings: StorageSettings

    def output(self, opener: Opener | None = None) -> FileOutput:
        """Open it as a new driver does; without an opener, connections are kept."""
        if opener is None:
            return self._kept
        return FileOutput(parse_location(self.url), self.settings, opener)

    @cached_property
    def _kept(self) -> FileOutput:
        return FileOutput(parse_location(self.url), self.settings)

    def seen(self) -> Counter[str]:
        """Give the rows that a plain reader sees: each file of ours is a line with its rows."""
        output = self.output()
        files = output.files_in(output.name)
        lines = [output.reader.read(f"{output.name}/{path}").decode() for path in files]
        return Counter(row for line in lines for row in line.split())


def local(folder: Path) -> Place:
    """Give a place on this machine."""
    return Place(str(folder / "out"), StorageSettings())


@pytest.fixture(params=["local", "s3"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    if request.param == "local":
        return local(tmp_path)
    server: S3Server = request.getfixturevalue("s3")
    bucket = f"bucket-{uuid.uuid4().hex}"
    server.fill(bucket, {})
    return Place(f"s3a://{bucket}/lake/out", server.settings())


@pytest.fixture
def _no_flushing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A killed process loses nothing that it handed to the system: only power cuts need flushes."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


def identity(batch_id: int, digest: str = "d", generation: int = 1) -> BatchIdentity:
    """Give the identity of a batch of the one query."""
    return BatchIdentity(QUERY, batch_id, generation, f"{digest}{batch_id}")


def stage_into(output: FileOutput, folder: str, one: BatchIdentity, *rows: str,
               mode: str = "append") -> Manifest:  # fmt: skip
    """Stage a batch as Spark does: one file a row, and things that are not rows."""
    name = folder.rpartition("/")[2]
    files = []
    for number, row in enumerate(rows):
        # As Spark names files: no two attempts have one of the same name.
        path = f"part={number % 2}/part-{number:05d}-{name}.csv"
        output.writer.replace(f"{folder}/{path}", (row.encode(),))
        final = f"part={number % 2}/{QUERY[:8]}-{one.batch_id:010d}-{number}-{name}.csv"
        final = path if mode == "complete" else final
        files.append(ManifestFile(final, path, len(row.encode()), None))
    if mode == "append":
        output.writer.replace(f"{folder}/_SUCCESS", (b"",))
    return Manifest(
        QUERY, one.batch_id, one.generation, one.offsets_digest, "csv", mode, (), {"fields": []},
        None, f"2026-11-16T06:00:{one.batch_id:02d}.000Z", name, tuple(files),
    )  # fmt: skip


def staged(place: Place, batch_id: int, *rows: str, generation: int = 1, mode: str = "append",
           digest: str = "d", epoch: int = 0) -> Manifest:  # fmt: skip
    """Stage a batch, and leave it at that."""
    output = place.output()
    folder = f"{output.staged_for(QUERY)}/{staging_name(batch_id, generation, epoch)}"
    one = identity(batch_id, digest, generation)
    return stage_into(output, folder, one, *rows, mode=mode)


def log_of(output: FileOutput) -> ManifestLog:
    return ManifestLog(output.reader_of(output.manifests))


def watch_of(output: FileOutput) -> EpochWatch:
    """Watch the epochs as a driver does."""
    watch = EpochWatch(log_of(output), "here")
    watch.look()
    return watch


def published(output: FileOutput, manifest: Manifest) -> None:
    """Publish a committed batch."""
    publish(output, log_of(output), watch_of(output), manifest)


def rolled_forward(output: FileOutput) -> None:
    """Do what a start does first."""
    roll_forward(output, log_of(output), watch_of(output), identity(0))


def cleaned(output: FileOutput, generation: int = 1) -> None:
    """Do what a driver does last."""
    one = identity(0, generation=generation)
    remove_leftovers(output, log_of(output), watch_of(output), QUERY, one)


def deliver(place: Place, batch_id: int, *rows: str, opener: Opener | None = None,
            mode: str = "append", digest: str = "d", generation: int = 1) -> bool:  # fmt: skip
    """Deliver a batch as the sink does, with Spark left out; False where it was skipped."""
    one = identity(batch_id, digest, generation)
    commits = FileCommits(place.output(opener))

    def stage(folder: str) -> Manifest:
        return stage_into(place.output(), folder, one, *rows, mode=mode)

    return not commits.deliver(one, stage).skipped


def test_batches_are_published_and_listed_in_order(place: Place) -> None:
    for number in range(9, 11):
        assert deliver(place, number, f"a{number}", f"b{number}")
    assert not deliver(place, 9, "x")
    assert deliver(place, 11)
    assert place.seen() == Counter(("a9", "b9", "a10", "b10"))
    output = place.output()
    assert output.files_in(output.staging) == {}
    ledger = read_manifest_ledger(output.reader_of(output.manifests))
    assert ledger is not None
    assert (ledger.last_committed(QUERY).value, ledger.last_committed("x").value) == (11, None)
    files = holdfast.committed_files(place.url, place.settings)
    assert [file.batch_id for file in files] == [9, 9, 10, 10]
    assert all(file.path.startswith(place.output().location.url) for file in files)
    assert log_of(output).batches(QUERY) == (9, 10, 11)


def whole_batches(place: Place, mode: str) -> set[str]:
    """Give the rows that the shipped reader sees; an output that is away is told."""
    try:
        files = holdfast.committed_files(place.url)
    except SinkError as error:
        assert (error.code.number, mode, place.seen()) == ("HF5022", "complete", Counter())
        return set("abc")
    return {Path(file).read_text() for file in files}


@pytest.mark.usefixtures("_no_flushing")
@pytest.mark.parametrize("mode", ["append", "complete"])
@pytest.mark.parametrize("striking", STRIKES)
def test_killed_at_any_moment_then_run_again(
    tmp_path: Path, mode: str, striking: str, moments: DrawnMoments
) -> None:
    """A plain reader sees no row twice at any time, and each once at the end."""
    for fatal in moments(mode == "append", striking == "killed", every=2):
        place = local(tmp_path / str(fatal))
        deliver(place, 0, "a", "b", "c", mode=mode)

        def act(opener: Opener, place: Place = place) -> object:
            return deliver(place, 1, "d", "e", "f", opener=opener, mode=mode)

        struck = STRIKES[striking](act, fatal)
        before, after = (set("abc"), set("abcdef") if mode == "append" else set("def"))
        seen = place.seen()
        assert max(seen.values(), default=1) == 1
        if mode == "append":
            assert before <= set(seen) <= after
        else:
            assert set(seen) in (before, set(), after)
        assert whole_batches(place, mode) in (before, after)
        deliver(place, 1, "d", "e", "f", mode=mode)
        assert place.seen() == Counter(after)
        output = place.output()
        assert output.files_in(output.staging) == {}
        if not struck:
            assert fatal > 10, "too few moments were counted"
            return
        shutil.rmtree(tmp_path / str(fatal))


@pytest.mark.usefixtures("_no_flushing")
@pytest.mark.parametrize("striking", STRIKES)
@pytest.mark.parametrize("everything", [False, True], ids=["rewind", "clear"])
def test_taking_back_killed_at_any_moment(
    tmp_path: Path, striking: str, everything: bool, moments: DrawnMoments
) -> None:
    """The next act finishes it; a batch that went is never taken for committed."""
    for fatal in moments(striking == "killed", everything, every=2):
        place = local(tmp_path / str(fatal))
        for number in range(3):
            deliver(place, number, f"a{number}", f"b{number}")

        def act(opener: Opener, place: Place = place) -> None:
            if everything:
                clear(place.output(opener), generation=1)
            else:
                rewind(place.output(opener), QUERY, 0, generation=1)

        struck = STRIKES[striking](act, fatal)
        output = place.output()
        epochs = log_of(output).epochs()
        begun = bool(epochs.fences)
        listed = Counter(file.batch_id for file in holdfast.committed_files(place.url))
        kept = {} if everything else {0: 2}
        assert listed == (kept if begun or not struck else listed)
        last = 1 if everything else 2
        rows = {f"{one}{n}" for n in range(last) for one in "ab"}
        if begun or not struck:
            ledger = read_manifest_ledger(output.reader_of(output.manifests))
            value = ledger.last_committed(QUERY).value if ledger is not None else None
            assert value == (None if everything else 0)
            act(open_writer)
            assert not log_of(output).epochs().unfinished
            digest = "new" if everything else "d"
            assert deliver(place, 0, "a0", "b0", digest=digest) is everything
            assert everything or deliver(place, 1, "a1", "b1", digest="new")
            assert place.seen() == Counter(rows)
        else:
            assert all(value == 1 for value in place.seen().values())
        if not struck:
            assert fatal > 5, "too few moments were counted"
            return
        shutil.rmtree(tmp_path / str(fatal))


def test_a_batch_that_is_partly_published_is_not_listed(place: Place) -> None:
    """The shipped reader sees whole batches; a plain one a part of it."""
    deliver(place, 0, "a", "b")

    class CutShortError(Exception):
        pass

    def raise_it() -> None:
        raise CutShortError

    manifest = staged(place, 1, "c", "d", "e")
    commit_manifest(place.output(), manifest)
    with pytest.raises(CutShortError):
        published(place.output(Moments(2, raise_it).opener()), manifest)
    seen = place.seen()
    assert Counter("ab") <= seen < Counter("abcde")
    assert [one.batch_id for one in holdfast.committed_files(place.url, place.settings)] == [0, 0]
    rolled_forward(place.output())
    assert place.seen() == Counter("abcde")
    files = holdfast.committed_files(place.url, place.settings)
    assert [one.batch_id for one in files] == [0, 0, 1, 1, 1]


def test_two_drivers_publish_the_same_batch(place: Place) -> None:
    """The second manifest is refused, a late publishing finds its work done."""
    ours, theirs = staged(place, 0, "a", "b"), staged(place, 0, "a", "b", generation=2)
    output = place.output()
    assert commit_manifest(output, theirs)
    assert not commit_manifest(output, ours)
    assert log_of(output).manifest(QUERY, 0) == theirs
    for _ in range(2):
        published(output, theirs)
    cleaned(output)
    assert place.seen() == Counter("ab")
    assert output.files_in(output.staging) == {}


def test_a_late_driver_does_not_lose_the_newest_output(tmp_path: Path) -> None:
    """Mode complete: it finds its staged folder gone, and puts back what it moved away."""
    place = local(tmp_path)
    deliver(place, 0, "a", mode="complete")
    old = staged(place, 1, "b", mode="complete")
    output = place.output()
    commit_manifest(output, old)

    def overtaken() -> None:
        assert not deliver(place, 1, "b", mode="complete")
        assert deliver(place, 2, "c", mode="complete")

    published(place.output(Moments(1, overtaken).opener()), old)
    assert place.seen() == Counter("c")


def test_leftovers_of_a_batch_that_may_still_be_committed_stay(place: Place) -> None:
    """Removed when its batch is committed by somebody, not before."""
    deliver(place, 0, "a")
    late = staged(place, 1, "b", generation=1)
    cleaned(place.output())
    assert commit_manifest(place.output(), late)
    rolled_forward(place.output())
    assert place.seen() == Counter("ab")
    again = staged(place, 1, "b", generation=2)
    assert not commit_manifest(place.output(), again)
    cleaned(place.output(), generation=2)
    assert place.output().files_in(place.output().staging) == {}


def test_lost_or_changed_files_of_a_committed_batch_are_told(place: Place) -> None:
    manifest = staged(place, 0, "a", "b")
    output = place.output()
    commit_manifest(output, manifest)
    folder = f"{output.staged_for(QUERY)}/{manifest.staging}"
    output.writer.replace(f"{folder}/{manifest.files[1].staged}", (b"longer",))
    with pytest.raises(SinkError, match="has 6 bytes, not 1") as caught:
        rolled_forward(output)
    assert caught.value.code.number == "HF5022"
    output.writer.remove(f"{folder}/{manifest.files[1].staged}")
    with pytest.raises(SinkError, match="neither staged nor published") as caught:
        rolled_forward(output)
    assert caught.value.code.number == "HF5022"


def test_a_manifest_is_read_back_or_refused() -> None:
    manifest = Manifest(
        "q", 1, 2, "d", "csv", "append", ("a b",), {"type": "struct", "fields": []}, None,
        "2026-11-16T06:00:00.000Z", "0-1-ab", (ManifestFile("p", "s", 3, None),),
    )  # fmt: skip
    assert decode_manifest(encode_manifest(manifest), "here") == manifest
    good = encode_manifest(replace(manifest, rows=4)).decode()
    for bad in (
        "", "[]", "{}", "null", "\xff", good.replace('"size": 3', '"size": true'),
        good.replace('"holdfast": 1', '"holdfast": 2'), good.replace('"q"', "null"),
    ):  # fmt: skip
        with pytest.raises(SinkError) as caught:
            decode_manifest(bad.encode("latin-1"), "here")
        assert (caught.value.code.number, caught.value.at) == ("HF5023", "here")


def test_the_page_about_the_format_names_every_field() -> None:
    page = Path(__file__).parents[3] / "docs/reference/file-manifests.md"
    text = page.read_text(encoding="utf-8")
    for kind in (Manifest, ManifestFile, Intent, Epochs, Fence, holdfast.CommittedFile):
        for field in fields(kind):
            assert f"`{field.name}`" in text


def test_the_sinks_memory_is_asked_from_the_manifests(tmp_path: Path) -> None:
    place = local(tmp_path)
    deliver(place, 4, "a")

    def opened(folder: str) -> object:
        return open_reader(parse_location(f"{tmp_path}/{folder}"), StorageSettings())

    memory = ask_sink(
        "shown",
        lambda folder: opened(f"out/{folder}"),  # type: ignore[arg-type,return-value]
        open_beside=lambda folder: opened(f".holdfast/out/{folder}"),  # type: ignore[arg-type,return-value]
    )
    assert memory.kind == "files" and memory.own is not None
    assert memory.last_committed(QUERY).value == 4
    assert memory.last_committed("other").value is None


def test_one_batch_is_told_with_its_digest(tmp_path: Path) -> None:
    """Not there is not unknown: a manifest may be damaged, or batches are being taken back."""
    place = local(tmp_path)
    log = log_of(place.output())
    assert log.offsets_of(QUERY, 4) == NOT_COMMITTED
    deliver(place, 4, "a")
    assert [log.offsets_of(QUERY, one) for one in (3, 4)] == [NOT_COMMITTED, committed_with("d4")]
    assert log.offsets_of("another", 4) == NOT_COMMITTED
    manifests = tmp_path / ".holdfast/out/manifests"
    (manifests / QUERY / f"{4:010d}.json").write_bytes(b"{")
    assert log.offsets_of(QUERY, 4) == UNKNOWN
    (manifests / INTENT).write_bytes(b"{")
    assert log.offsets_of(QUERY, 3) == UNKNOWN


def test_an_output_at_a_root_has_nothing_beside_it() -> None:
    with pytest.raises(StorageError) as caught:
        holdfast.committed_files("/")
    assert caught.value.code.number == "HF4514"
