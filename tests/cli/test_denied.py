"""Real permission bits, met without root's capabilities: an error of access, never a verdict."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import Printed, holdfast
from tests.fuzz.children import in_child

_ORDERS = Path(__file__).resolve().parents[2] / "demo" / "orders"
_PROJECT = """
project: shops
jobs:
  orders:
    source:
      format: json
      path: ./in
      schema: "shop string"
      options: {ignoreMissingFiles: true}  # those of the pending batch are on no machine
    sql: select shop, count(*) from source group by shop
    sink: {format: parquet, path: ./out, mode: complete}
"""
_VERDICTS = ("empty", "missing", "is gone", "backup", "holds no", "fatal", "never planned")
_COMMANDS = ("inspect", "doctor", "status", "evidence", "state", "diff", "backup")


@pytest.fixture
def project(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project below a folder that every user may enter, with the checkpoint of one job."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-"))
    folder.chmod(0o755)
    (folder / "holdfast.yaml").write_text(_PROJECT, encoding="utf-8")
    shutil.copytree(_ORDERS, folder / "checkpoints" / "orders")
    monkeypatch.chdir(folder)
    yield folder
    for place in [folder, *folder.rglob("*")]:
        place.chmod(0o755)
    shutil.rmtree(folder)


def _bound_by_modes(*words: str) -> tuple[int, str]:
    """Run a command as a user whom permission bits bind."""

    def act() -> str:
        printed: Printed = holdfast(*words)
        return f"{printed.status}\n{printed.out}{printed.err}"

    status, _, text = in_child(act, without_capabilities=True).partition("\n")
    return int(status), text


def _words(command: str) -> tuple[str, ...]:
    return (command, "orders", *([str(_ORDERS)] if command == "diff" else []))


@pytest.mark.parametrize("command", _COMMANDS)
@pytest.mark.parametrize("folder", ["", "offsets", "commits"])
def test_logs_that_may_not_be_listed(project: Path, command: str, folder: str) -> None:
    """The folder itself or one of its logs: every command names the access, and nothing else."""
    (project / "checkpoints" / "orders" / folder).chmod(0)
    status, text = _bound_by_modes(*_words(command))
    assert status == (3 if command == "status" else 20), text
    assert "HF7002" in text
    assert "Permission denied" in text
    assert not [word for word in _VERDICTS if word in text], text


@pytest.mark.parametrize("command", ["inspect", "doctor", "state", "diff", "backup"])
def test_a_part_that_may_not_be_listed(project: Path, command: str) -> None:
    """A partition of the state: what was seen is shown, what was not is unknown."""
    (project / "checkpoints" / "orders" / "state" / "0" / "0").chmod(0)
    # What the doctor says of this project besides is not about state.
    words = ("--ignore", "HF2324", "--ignore", "HF2407") if command == "doctor" else ()
    status, text = _bound_by_modes(*_words(command), *words)
    partial = command in ("inspect", "doctor")
    assert status == (3 if partial else 20), text
    assert ("HF2230" if partial else "HF7002") in text
    # The sink was read: that its output has no log is known.
    seen = " ".join(text.split()).replace("holds no log of batches", "")
    assert not [word for word in _VERDICTS if word in seen], text
    if command == "inspect":
        assert "The next start is unknown" in text


def test_a_file_that_may_not_be_read(project: Path) -> None:
    """Its content decides the next start, so nobody says what that does."""
    (project / "checkpoints" / "orders" / "offsets" / "5").chmod(0)
    status, text = _bound_by_modes("inspect", "orders")
    assert status == 3
    assert "The next start is unknown" in text
    assert "HF7002" in text
    status, text = _bound_by_modes("doctor", "orders")
    assert (status, "is kept" in text, "offsets/5 yet" in text) == (3, False, False), text
    status, text = _bound_by_modes("evidence", "orders")
    assert "offsets/5 cannot be read: access was denied" in " ".join(text.split())


def test_a_sink_that_may_not_be_listed(project: Path) -> None:
    """A log of the file sink behind closed doors is not a sink without a log."""
    log = project / "out" / "_spark_metadata"
    log.mkdir(parents=True)
    (log / "0").write_text("v1\n", encoding="utf-8")
    log.chmod(0)
    status, text = _bound_by_modes("doctor", "orders", "--sink", "out")
    assert status == 3
    assert "HF2431: the sink could not be read: access was denied" in text
    assert "Sink not checked: it could not be read" in text
    assert "has batches up to" not in text
    assert "HF2407" not in text


def test_a_link_whose_end_may_not_be_seen(project: Path) -> None:
    """It is not called broken."""
    root = project / "checkpoints" / "orders"
    (root / "kept").mkdir()
    (root / "offsets").rename(root / "kept" / "offsets")
    (root / "offsets").symlink_to("kept/offsets")
    (root / "kept").chmod(0)
    status, text = _bound_by_modes("inspect", "orders")
    assert status == 20, text
    assert "HF7002" in text


@pytest.mark.parametrize("mode", [0o555, 0o444, 0o000])
@pytest.mark.parametrize(
    "words",
    [
        ("state", "orders", "--output", "closed/rows.csv"),
        ("evidence", "orders", "--bundle", "closed/bundle.zip"),
        ("status", "--metrics", "closed/jobs.prom"),
        ("init", "closed/new"),
    ],
)
def test_a_folder_that_may_not_be_written(project: Path, words: tuple[str, ...], mode: int) -> None:
    """Whether it may be entered or not, nothing of this is a bug in Holdfast."""
    (project / "closed").mkdir()
    (project / "closed").chmod(mode)
    status, text = _bound_by_modes(*words)
    assert status == 2, text
    assert "HF1003" not in text and "  next  " in text


@pytest.mark.parametrize("verify", [(), ("--verify",)], ids=["needed", "verified"])
def test_a_state_file_that_may_not_be_read(project: Path, verify: tuple[str, ...]) -> None:
    """The next start loads it, and may be denied it too: not healthy, and no word on content."""
    folder = project / "checkpoints" / "orders" / "state" / "0" / "0"
    loaded = folder / "5.delta"
    loaded.chmod(0)
    only = ("--only", "HF7002", "--only", "HF2221", "--only", "HF2316", "--only", "HF2320")
    status, text = _bound_by_modes("doctor", "orders", *only, *verify)
    assert status == 3, text
    assert f"state/0/0/{loaded.name}" in text and "HF7002" in text, text
    assert not [code for code in ("HF2221", "HF2316", "HF2320") if code in text], text
