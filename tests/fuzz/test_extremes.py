"""Big and odd inputs: real folders where size matters, and storage that moves or fails."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from holdfast.answers import Answer
from holdfast.diagnosis.checks.picture import inspect_checkpoint
from holdfast.diagnosis.inspection.result import Inspection
from holdfast.errors import HoldfastError, StorageError
from holdfast.findings import Severity
from holdfast.storage.local import LocalReader
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Listing, Reader
from holdfast.storage.testing import FaultyReader, InjectedFault
from tests.corpus.loading import sample
from tests.fuzz.children import in_child

MANY = int(os.environ.get("HOLDFAST_FUZZ_ENTRIES", "200000"))
STATELESS = sample("stateless", "4.3.0")
STATEFUL = sample("aggregation-hdfs-lz4", "4.3.0")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A healthy checkpoint on disk: batches 0 to 3, all committed."""
    return STATELESS.extract(tmp_path)


def found(answer: Answer[Inspection]) -> dict[str, str]:
    """Code to place of every finding."""
    return {one.code: one.place.file for one in answer.findings}


def inspected(root: Path, verified: bool = True) -> Answer[Inspection]:
    """Inspect a folder on disk."""
    return inspect_checkpoint(LocalReader(str(root)), verified=verified)


@pytest.mark.parametrize("verified", [False, True])
def test_an_entry_of_three_gigabytes_is_not_read(root: Path, verified: bool) -> None:
    """It is reported by its size; a gigabyte of memory is more than enough."""
    (root / "offsets" / ".3.crc").unlink()
    os.truncate(root / "offsets" / "3", 3 * 2**30)
    answer = in_child(lambda: str(found(inspected(root, verified))), most_bytes=2**30)
    assert "'HF2108': 'offsets/3'" in answer


def test_a_state_file_of_three_gigabytes_is_compared_piece_by_piece(tmp_path: Path) -> None:
    """Its checksum has no sum for what was added."""
    root = STATEFUL.extract(tmp_path)
    os.truncate(root / "state" / "0" / "0" / "1.delta", 3 * 2**30)
    answer = in_child(lambda: str(found(inspected(root))), most_bytes=2**30)
    assert "'HF2111': 'state/0/0/1.delta'" in answer


@pytest.fixture
def wide_root() -> Iterator[Path]:
    """A checkpoint with very many entries, in memory where the machine has such a file system."""
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(dir=shared if shared.is_dir() else None))
    root = STATELESS.extract(folder)
    for log in ("offsets", "commits"):
        content = (root / log / "3").read_bytes()
        for number in range(4, MANY // 2):
            descriptor = os.open(f"{root}/{log}/{number}", os.O_CREAT | os.O_WRONLY)
            if number > MANY // 2 - 20:
                os.write(descriptor, content)
            os.close(descriptor)
    yield root
    shutil.rmtree(folder)


def test_hundreds_of_thousands_of_entries_are_listed_once(wide_root: Path) -> None:
    """Only the newest are opened; the rest costs a name each."""
    result = inspected(wide_root, verified=False).result
    assert result.batches.last_committed == MANY // 2 - 1
    assert result.file_count > MANY - 10


@pytest.mark.parametrize("closed", [True, False])
def test_json_nested_a_hundred_thousand_deep_is_refused(root: Path, closed: bool) -> None:
    """Neither the decoder's nor the checks' own recursion gives way."""
    deep = b"[" * 100_000 + (b"]" * 100_000 if closed else b"")
    lines = (root / "offsets" / "3").read_bytes().split(b"\n")
    (root / "offsets" / "3").write_bytes(b"\n".join([*lines[:2], deep]))
    (root / "metadata").write_bytes(b'{"id":' + deep + b"}")
    places = {one.place.file for one in inspected(root).findings if one.code != "HF2111"}
    assert {"offsets/3", "metadata"} <= places


def test_a_pipe_named_like_a_batch_is_told_and_not_opened(root: Path) -> None:
    """Opening it would wait for ever."""
    os.mkfifo(root / "offsets" / "4")
    os.mkfifo(root / "state")
    answer = inspected(root)
    assert "offsets/4" in {one.place.file for one in answer.findings if one.code == "HF2228"}


def test_links_out_of_the_folder_are_told_and_not_followed(root: Path, tmp_path: Path) -> None:
    """Neither to a file nor to a folder."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("a secret")
    (root / "offsets" / "4").symlink_to(outside / "secret")
    (root / "state").symlink_to(outside)
    (root / "commits" / "4").symlink_to(root / "nowhere")
    answer = inspected(root)
    told = {one.place.file for one in answer.findings if one.code == "HF2228"}
    assert {"offsets/4", "state", "commits/4"} <= told
    assert "a secret" not in str(answer.document("0"))


ODD_NAMES = (
    b"a\nb",
    b"\xff\xfe",
    "\u0663".encode(),
    "\uff17".encode(),
    b"-1",
    b"1e3",
    b"0x7",
    b"9" * 25,
    b"9" * 250,
    b"'; drop table",
    b"[red]bold[red]",
    b"\x1b[31m",
    b"7 ",
    b"..7",
    b" ",
)


@pytest.mark.parametrize("name", ODD_NAMES, ids=repr)
def test_odd_names_are_no_batches_and_do_no_harm(root: Path, name: bytes) -> None:
    """In every folder; the answer can be printed and written as JSON."""
    for folder in (b"", b"offsets/", b"commits/", b"sources/0/", b"state/"):
        path = os.fsencode(root) + b"/" + folder + name
        Path(os.fsdecode(path)).parent.mkdir(exist_ok=True)
        Path(os.fsdecode(path)).write_bytes(b"v1\n{}")
    answer = inspected(root)
    assert answer.result.batches.last_planned == 3
    assert str(answer.document("0")).encode("utf-8")


@pytest.fixture
def open_root() -> Iterator[Path]:
    """A checkpoint below a folder that every user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-"))
    folder.chmod(0o755)
    yield STATEFUL.extract(folder)
    shutil.rmtree(folder)


def test_what_may_not_be_read_is_told_by_its_name(open_root: Path) -> None:
    """Another user's checkpoint: the picture is incomplete, and says so."""
    (open_root / "offsets" / "2").chmod(0)
    (open_root / "state" / "0" / "1").chmod(0)
    answer = in_child(lambda: str(found(inspected(open_root))), as_nobody=True)
    assert "'HF7002': 'offsets/2'" in answer
    assert "'HF2230': 'state/0/1'" in answer
    (open_root / "state" / "0" / "1").chmod(0o755)


class GrowingReader(MemoryReader):
    """A query that plans and commits another batch after every listing."""

    def __init__(self, files: dict[str, bytes], batches: int) -> None:
        super().__init__(files)
        self._growing = files
        self._left = batches

    def list(self) -> Listing:
        """List, and let the query go on before anything is read."""
        listing = super().list()
        if self._left:
            self._left -= 1
            newest = max(int(path[8:]) for path in self._growing if _is_offsets(path))
            for log in ("offsets", "commits"):
                self._growing[f"{log}/{newest + 1}"] = self._growing[f"{log}/{newest}"]
        return listing


def _is_offsets(path: str) -> bool:
    return path.startswith("offsets/") and path[8:].isdecimal()


@pytest.mark.parametrize("batches", [1, 2, 100])
def test_a_checkpoint_that_grows_while_it_is_read_gives_one_moment(batches: int) -> None:
    """The next quiet moment, or one that says that it moved; never a batch without its commit."""
    files = {path: data for path, data in STATELESS.files().items() if "/." not in path}
    answer = inspect_checkpoint(GrowingReader(files, batches))
    result = answer.result
    assert result.batches.last_planned == result.batches.last_committed
    assert ("HF2231" in found(answer)) == (batches > 2)


class PurgingReader(MemoryReader):
    """Old entries vanish between listing and reading."""

    def read_many(self, paths: object) -> Mapping[str, bytes | StorageError]:
        """Lose the two oldest batches first."""
        for name in ("offsets/0", "offsets/1", "commits/0", "commits/1"):
            self._files.pop(name, None)  # type: ignore[attr-defined]
        return super().read_many(paths)  # type: ignore[arg-type]


def test_entries_that_vanish_while_reading_are_no_damage() -> None:
    """A purge is no fault."""
    files = {path: data for path, data in STATELESS.files().items() if "/." not in path}
    answer = inspect_checkpoint(PurgingReader(files), verified=True)
    assert [one for one in answer.findings if one.severity.rank > Severity.INFO.rank] == []
    assert answer.result.batches.first_kept == 2


@pytest.mark.parametrize("times", [1, None], ids=["once", "for good"])
@pytest.mark.parametrize("verified", [False, True])
def test_storage_that_fails_at_any_operation_never_ends_in_a_traceback(
    times: int | None, verified: bool
) -> None:
    """Every operation fails in turn, until a run goes through untouched."""
    files, number, refused = STATEFUL.files(), 0, 0
    while True:
        number += 1
        error = StorageError("HF7003", "the connection was cut")
        reader = FaultyReader(MemoryReader(files), InjectedFault(number, error, times))
        outcome = _outcome(reader, verified)
        if reader.count < number:
            break
        refused += isinstance(outcome, HoldfastError)
        if isinstance(outcome, HoldfastError):
            assert outcome is error
        else:
            # At the very end it is only asked whether the checkpoint grew in the meantime.
            assert outcome.findings or times == 1 or reader.count - number < 2
    assert number > len([path for path in files if path.startswith("offsets/")])
    assert refused < number / 2


def _outcome(reader: Reader, verified: bool) -> Answer[Inspection] | HoldfastError:
    try:
        return inspect_checkpoint(reader, verified=verified)
    except HoldfastError as error:
        return error
