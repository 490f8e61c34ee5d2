"""Links, pipes, odd names and folders that refuse, in a local tree."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.errors import NotFoundError
from holdfast.storage.local import walk
from holdfast.storage.reading import FileKind, Listing
from tests.storage.places import write_tree


def listed(root: Path) -> dict[str, FileKind]:
    return {item.path: item.kind for item in walk(str(root), "here").items}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_tree(tmp_path / "ckpt", {"offsets/0": b"zero", "offsets/1": b"one!!", "metadata": b"m"})
    return tmp_path / "ckpt"


def test_times_are_told_in_milliseconds(root: Path) -> None:
    os.utime(root / "metadata", ns=(0, 1_700_000_000_123_999_999))
    [item] = [item for item in walk(str(root), "here").items if item.path == "metadata"]
    assert item.modified_ms == 1_700_000_000_123


def test_a_link_to_a_file_inside_counts_as_the_file(root: Path) -> None:
    (root / "latest").symlink_to("offsets/1")
    os.utime(root / "offsets" / "1", ns=(0, 1_700_000_000_123_999_999))
    [item] = [item for item in walk(str(root), "here").items if item.path == "latest"]
    assert (item.kind, item.size, item.modified_ms) == (FileKind.FILE, 5, 1_700_000_000_123)


def test_a_link_to_a_folder_inside_is_entered_once(root: Path) -> None:
    (root / "old").symlink_to("offsets")
    (root / "older").symlink_to("offsets")
    assert listed(root) == {
        "metadata": FileKind.FILE,
        "offsets": FileKind.FOLDER,
        "offsets/0": FileKind.FILE,
        "offsets/1": FileKind.FILE,
        "old": FileKind.FOLDER,
        "old/0": FileKind.FILE,
        "old/1": FileKind.FILE,
        "older": FileKind.OTHER,
    }


def test_a_link_that_leads_out_is_never_followed(root: Path, tmp_path: Path) -> None:
    write_tree(tmp_path / "elsewhere", {"secret": b"s"})
    (root / "state").symlink_to(tmp_path / "elsewhere")
    (root / "file").symlink_to(tmp_path / "elsewhere" / "secret")
    (root / "gone").symlink_to("/nowhere/at/all")
    (root / "sibling").symlink_to(tmp_path / "ckpt-2")
    kinds = listed(root)
    assert {name: kinds[name] for name in ("state", "file", "gone", "sibling")} == dict.fromkeys(
        ("state", "file", "gone", "sibling"), FileKind.OUTWARD_LINK
    )
    assert not any(path.startswith("state/") for path in kinds)


def test_a_link_to_nothing_inside_is_broken(root: Path) -> None:
    (root / "gone").symlink_to("offsets/99")
    assert listed(root)["gone"] is FileKind.BROKEN_LINK


def test_links_that_go_round_end(root: Path) -> None:
    (root / "self").symlink_to("self")
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    (root / "offsets" / "up").symlink_to("..")
    (root / "offsets" / "here").symlink_to(".")
    kinds = listed(root)
    assert {kinds[name] for name in ("self", "a", "b")} == {FileKind.BROKEN_LINK}
    assert kinds["offsets/up"] is FileKind.OTHER
    assert kinds["offsets/here"] is FileKind.OTHER


def test_a_web_of_links_between_folders_ends(tmp_path: Path) -> None:
    names = [f"f{number}" for number in range(12)]
    write_tree(tmp_path / "web", {f"{name}/": b"" for name in names})
    for one in names:
        for other in names:
            (tmp_path / "web" / one / f"to-{other}").symlink_to(f"../{other}")
    kinds = listed(tmp_path / "web")
    assert len(kinds) == 12 + 12 * 12 + 12 * 12


def test_pipes_sockets_and_devices_are_told_and_not_opened(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(root)
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
        kinds = listed(root)
    assert kinds["pipe"] is FileKind.OTHER
    assert kinds["socket"] is FileKind.OTHER


def test_names_that_are_not_utf_8_keep_their_bytes(root: Path) -> None:
    Path(os.fsdecode(os.fsencode(root) + b"/offsets/\xff\xfe")).write_bytes(b"x")
    assert "offsets/\udcff\udcfe" in listed(root)


@pytest.fixture
def bottomless(tmp_path: Path) -> Iterator[Path]:
    """A folder that is cleaned up without recursion, which pytest's own cleaning is not."""
    (tmp_path / "ckpt").mkdir()
    yield tmp_path / "ckpt"
    subprocess.run(["rm", "-rf", str(tmp_path / "ckpt")], check=True)


def test_a_root_that_is_very_deep_is_walked(bottomless: Path) -> None:
    deep = "/".join(["d"] * 1200)
    folder = os.open(bottomless, os.O_RDONLY)
    for _ in range(1200):
        os.mkdir("d", dir_fd=folder)
        inner = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = inner
    os.close(folder)
    listing = walk(str(bottomless), "here")
    assert listing.items[-1].path == deep
    assert listing.failures == {}


def test_a_folder_that_vanishes_while_walking_is_just_empty(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_open = os.open

    def vanishing(path: str, flags: int) -> int:
        if path.endswith("/offsets"):
            raise FileNotFoundError(2, "gone", path)
        return real_open(path, flags)

    monkeypatch.setattr(os, "open", vanishing)
    listing = walk(str(root), "here")
    assert [item.path for item in listing.items] == ["metadata", "offsets"]
    assert listing.failures == {}


def test_a_root_that_vanishes_while_walking_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError) as caught:
        walk(str(tmp_path / "gone"), "here")
    assert caught.value.at == "here"


def test_a_file_that_vanishes_while_walking_is_not_listed(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Entry:
        name = "gone"

        def stat(self, *, follow_symlinks: bool) -> os.stat_result:
            raise FileNotFoundError(2, "gone")

    @contextmanager
    def scanning(_: int) -> Iterator[list[Entry]]:
        yield [Entry()]

    monkeypatch.setattr(os, "scandir", scanning)
    listing = walk(str(root), "here")
    assert (listing.items, listing.failures) == ((), {})


def test_commits_are_looked_at_before_offsets_before_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"state/0/0/1.delta": b"", "offsets/0": b"", "commits/0": b"", "sources/0/0": b""}
    write_tree(tmp_path / "ckpt", files)
    looked: list[str] = []
    real_open = os.open

    def remembering(path: str, flags: int) -> int:
        looked.append(path.removeprefix(str(tmp_path / "ckpt")))
        return real_open(path, flags)

    monkeypatch.setattr(os, "open", remembering)
    walk(str(tmp_path / "ckpt"), "here")
    assert looked == [
        "",
        "/commits",
        "/offsets",
        "/sources",
        "/sources/0",
        "/state",
        "/state/0",
        "/state/0/0",
    ]


_AS_NOBODY = """
import json, os, sys
from holdfast.storage.local import walk
from holdfast.storage.local import LocalReader
from holdfast.errors import StorageError
LocalReader(sys.argv[1]).names("")
if os.geteuid() == 0:
    os.setgid(65534); os.setuid(65534)
listing = walk(sys.argv[1], "here")
refused = {}
for act in ("read", "names"):
    try:
        getattr(LocalReader(sys.argv[1]), act)("offsets/0" if act == "read" else "closed")
    except StorageError as error:
        refused[act] = error.code.number
print(json.dumps([[item.path for item in listing.items],
                  {path: [error.code.number, error.at] for path, error in listing.failures.items()},
                  refused]))
"""


def test_a_folder_that_refuses_is_told_and_does_not_hide_the_others() -> None:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        root = Path(folder) / "ckpt"
        write_tree(root, {"closed/0": b"", "offsets/0": b"", "listable/0": b"", "state/0": b""})
        (root / "closed").chmod(0)
        (root / "listable").chmod(0o744)
        (root / "offsets" / "0").chmod(0)
        command = [sys.executable, "-c", _AS_NOBODY, str(root)]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        (root / "closed").chmod(0o755)
    paths, failures, refused = json.loads(printed)
    assert paths == ["closed", "listable", "offsets", "offsets/0", "state", "state/0"]
    assert failures == {
        "closed": ["HF7002", "here/closed"],
        "listable": ["HF7002", "here/listable"],
    }
    assert refused == {"read": "HF7002", "names": "HF7002"}


def test_a_root_that_refuses_is_a_failure_of_the_root(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(path: str, flags: int) -> int:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "open", refusing)
    listing: Listing = walk(str(root), "here")
    assert listing.items == ()
    assert listing.failures[""].code.number == "HF7002"
    assert listing.failures[""].at == "here"
