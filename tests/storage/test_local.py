"""Reading local files: only plain ones, only inside, and nothing is changed by it."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.errors import NotFoundError, StorageError
from holdfast.storage.local import LocalReader
from tests.storage.places import write_tree


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(
        tmp_path / "ckpt", {"offsets/0": b"zero", "metadata": b"m", "state/0/0/1": b"s" * 99}
    )
    return tmp_path / "ckpt"


def code_of_reading(root: Path, path: str) -> str:
    with pytest.raises(StorageError) as caught:
        LocalReader(str(root)).read(path)
    return caught.value.code.number


def open_descriptors() -> int:
    """How many files this process holds open."""
    limit = 1024
    return sum(1 for number in range(limit) if _is_open(number))


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


def fingerprint(root: Path) -> dict[str, tuple[str, int, int]]:
    """Digest, time and mode of everything below, the folders' own times too."""
    return {
        str(path): (
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
            path.lstat().st_mtime_ns,
            path.lstat().st_mode,
        )
        for path in (root, *sorted(root.rglob("*")))
    }


def test_reading_everything_changes_nothing(root: Path) -> None:
    (root / "link").symlink_to("metadata")
    before = fingerprint(root)
    reader = LocalReader(str(root))
    for item in reader.list().items:
        reader.names(item.path)
    reader.read_many([item.path for item in reader.list().items])
    assert fingerprint(root) == before


def test_a_missing_root_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        LocalReader(str(tmp_path / "nothing"), "shown").list()
    assert (caught.value.code.number, caught.value.at) == ("HF7001", "shown")


def test_a_misspelled_path_names_the_nearest_one(tmp_path: Path) -> None:
    """Whichever part of it is wrong; only where the whole path exists."""
    (tmp_path / "checkpoints/orders").mkdir(parents=True)
    for given, meant in (("chekpoints/orders", True), ("checkpoints/oders", True),
                         ("chekpoints/invoices", False), ("backups", False)):  # fmt: skip
        with pytest.raises(NotFoundError) as caught:
            LocalReader(str(tmp_path / given)).list()
        told = f"nothing is there; did you mean {tmp_path}/checkpoints/orders?"
        assert caught.value.message == (told if meant else "nothing is there")


def test_a_missing_root_has_no_names(tmp_path: Path) -> None:
    assert LocalReader(str(tmp_path / "nothing")).names("") == frozenset()


def test_a_root_that_is_a_file_is_refused(root: Path) -> None:
    with pytest.raises(StorageError) as caught:
        LocalReader(str(root / "metadata")).list()
    assert caught.value.code.number == "HF7016"
    assert caught.value.message == "this is a file, not a directory"
    with pytest.raises(StorageError) as of_names:
        LocalReader(str(root / "metadata")).names("offsets")
    assert of_names.value.code.number == "HF7016"


def test_a_root_may_be_a_link_itself(root: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    reader = LocalReader(str(tmp_path / "link"))
    assert "offsets/0" in {item.path for item in reader.list().items}
    assert reader.read("offsets/0") == b"zero"


def test_a_link_inside_is_read(root: Path) -> None:
    (root / "latest").symlink_to("offsets/0")
    (root / "old").symlink_to("offsets")
    reader = LocalReader(str(root))
    assert reader.read("latest") == b"zero"
    assert reader.read("old/0") == b"zero"


def test_links_that_lead_out_are_not_read(root: Path, tmp_path: Path) -> None:
    write_tree(tmp_path / "elsewhere", {"secret": b"s"})
    (root / "file").symlink_to(tmp_path / "elsewhere" / "secret")
    (root / "folder").symlink_to(tmp_path / "elsewhere")
    (root / "round").symlink_to("round")
    assert code_of_reading(root, "file") == "HF7013"
    assert code_of_reading(root, "folder/secret") == "HF7013"
    assert code_of_reading(root, "round") == "HF7013"
    with pytest.raises(StorageError):
        LocalReader(str(root)).names("folder")


def test_a_pipe_is_never_opened(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert code_of_reading(root, "pipe") == "HF7013"


def test_a_pipe_that_takes_a_files_place_does_not_hang(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_lstat = os.lstat

    def replaced_after_the_look(path: str) -> os.stat_result:
        seen = real_lstat(path)
        if path.endswith("/metadata") and (root / "metadata").is_file():
            (root / "metadata").unlink()
            os.mkfifo(root / "metadata")
        return seen

    monkeypatch.setattr(os, "lstat", replaced_after_the_look)
    before = open_descriptors()
    assert code_of_reading(root, "metadata") == "HF7013"
    assert open_descriptors() == before


def test_a_link_that_takes_a_files_place_is_not_followed(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    real_lstat = os.lstat

    def replaced_after_the_look(path: str) -> os.stat_result:
        seen = real_lstat(path)
        if path.endswith("/metadata") and not (root / "metadata").is_symlink():
            (root / "metadata").unlink()
            (root / "metadata").symlink_to(tmp_path / "secret")
        return seen

    monkeypatch.setattr(os, "lstat", replaced_after_the_look)
    assert code_of_reading(root, "metadata") == "HF7013"


def test_a_device_is_not_read(root: Path) -> None:
    (root / "null").symlink_to("/dev/null")
    assert code_of_reading(root, "null") == "HF7013"


def test_a_file_that_vanished_since_the_listing_is_not_found(root: Path) -> None:
    reader = LocalReader(str(root))
    reader.list()
    (root / "offsets" / "0").unlink()
    assert isinstance(reader.read_many(["offsets/0", "metadata"])["offsets/0"], NotFoundError)


def test_a_file_that_grows_while_it_is_read_is_read_to_its_end(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_read = os.read
    left = [b"and more"]

    def growing(descriptor: int, count: int) -> bytes:
        content = real_read(descriptor, count)
        if left:
            with (root / "metadata").open("ab") as file:
                file.write(left.pop() * 20_000)
        return content

    monkeypatch.setattr(os, "read", growing)
    assert LocalReader(str(root)).read("metadata") == b"m" + b"and more" * 20_000


def test_no_descriptor_stays_open(root: Path) -> None:
    os.mkfifo(root / "pipe")
    before = open_descriptors()
    reader = LocalReader(str(root))
    reader.list()
    reader.read_many(["metadata", "pipe", "nothing", "offsets"])
    assert open_descriptors() == before


def test_names_that_are_not_utf_8_are_read_and_shown_safely(root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/\xffname\n")).write_bytes(b"odd")
    reader = LocalReader(str(root))
    [odd] = [item.path for item in reader.list().items if "name" in item.path]
    assert reader.read(odd) == b"odd"
    with pytest.raises(NotFoundError) as caught:
        reader.read(odd + "x")
    assert str(caught.value.at).endswith("/\\xffname\\nx")


def test_reading_locally_imports_no_remote_library() -> None:
    program = (
        "import sys, holdfast.storage.opening as o, holdfast.storage.location as l, "
        "holdfast.storage.options as s; "
        "o.open_reader(l.parse_location('.'), s.StorageSettings()).names(''); "
        "print(sorted({'fsspec', 'asyncio', 'concurrent.futures', 's3fs'} & set(sys.modules)))"
    )
    command = [sys.executable, "-c", program]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"
