"""The command line's border: help, mistakes, signals and failures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import click
import pytest

from holdfast.cli import main as cli_main
from holdfast.cli.commands import plan
from holdfast.cli.main import COMMANDS
from tests.cli.running import holdfast
from tests.corpus.loading import sample

HEAVY = ("pyspark", "py4j", "pydantic", "fsspec", "yaml", "asyncio", "pandas", "pyarrow")


def modules_after(*words: str) -> set[str]:
    """Run a command in a fresh interpreter and name the modules that it loaded."""
    program = (
        "import sys\n"
        "from holdfast.cli.main import run\n"
        f"run({list(words)!r})\n"
        "sys.stderr.write(' '.join(sys.modules))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def test_help_names_every_command() -> None:
    """With its summary, without loading any."""
    shown = holdfast("--help")
    assert shown.status == 0
    for name, summary in COMMANDS.items():
        assert name in shown.out
        assert summary.split()[0] in shown.out


GROUPS = {"plan": [*plan.command.commands]}
"""Commands with commands of their own."""


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_the_common_options(name: str) -> None:
    """--json on every command."""
    for words in ([name, one] for one in GROUPS[name]) if name in GROUPS else [[name]]:
        shown = holdfast(*words, "--help")
        assert shown.status == 0
        for option in ("--json", "--quiet", "--no-color"):
            assert option in shown.out


def test_help_loads_nothing_heavy() -> None:
    """It must answer at once."""
    loaded = modules_after("--help")
    assert not loaded & {*HEAVY, "rich", "holdfast.checkpoint", "holdfast.diagnosis"}


def test_inspecting_a_local_path_loads_nothing_heavy(tmp_path: Path) -> None:
    """No Spark, no YAML, no remote storage."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    assert not modules_after("inspect", str(root)) & set(HEAVY)


def test_an_unknown_command_names_the_nearest() -> None:
    """Status 2."""
    shown = holdfast("inspct", "x")
    assert shown.status == 2
    assert "HF1001" in shown.err
    assert "'inspect'" in shown.err


def test_a_missing_argument_is_a_usage_error_in_json_too() -> None:
    """One document, also for mistakes."""
    answered = holdfast("inspect", "--json")
    assert answered.status == 2
    assert answered.document["error"]["code"] == "HF1001"


def test_without_words_the_help_is_printed() -> None:
    """On standard output, and nothing is wrong."""
    shown = holdfast()
    assert shown == holdfast("--help")
    assert shown.status == 0
    assert "Usage: holdfast" in shown.out
    assert shown.err == ""


def test_the_version_is_told() -> None:
    """As `holdfast --version`."""
    assert holdfast("--version").out.startswith("holdfast, version ")


def failing(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """Make every command fail with this."""

    def fail(*_words: object, **_options: object) -> None:
        raise error

    monkeypatch.setattr(cli_main.holdfast, "main", fail)


def test_a_bug_is_told_without_a_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    """And without the secret in its text."""
    failing(monkeypatch, RuntimeError("at s3://me:hunter2secret@bucket/x"))
    shown = holdfast("inspect", "x")
    assert shown.status == 1
    assert shown.err.startswith("error HF1003: RuntimeError")
    assert "Traceback" not in shown.err
    assert "hunter2secret" not in shown.err


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interrupt_ends_with_130(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> None:
    """As shells expect."""
    failing(monkeypatch, error)
    assert holdfast("inspect", "x").status == 130


def test_a_closed_pipe_is_no_failure(tmp_path: Path) -> None:
    """`holdfast inspect … | head -1` ends quietly."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    command = f"{sys.executable} -m holdfast inspect {root} --json | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["--version"]])
def test_help_that_nobody_reads_ends_quietly(words: list[str]) -> None:
    done = unread(*words)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("options", [[], ["--json"]])
def test_the_status_is_the_answer_s_although_nobody_reads_it(
    tmp_path: Path, options: list[str]
) -> None:
    """Output that fits into the pipe ends with it, too."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    (root / "commits" / "0").unlink()
    seen = subprocess.run(
        [sys.executable, "-m", "holdfast", "inspect", str(root), *options],
        capture_output=True,
        check=False,
    )
    done = unread("inspect", str(root), *options)
    assert (done.returncode, done.stderr) == (seen.returncode, "")
    done = unread("inspect", str(tmp_path / "nowhere"), *options)
    assert done.returncode == 21 and "Traceback" not in done.stderr


def test_nobody_needs_to_read_how_a_run_goes() -> None:
    """`holdfast run 2>&1 | head -1` runs its jobs."""
    reading, writing = os.pipe()
    os.close(reading)
    program = (
        "import sys\n"
        "from holdfast.cli.drawing.liverun import LiveRun\n"
        "from holdfast.running.report import JobStarting\n"
        "with LiveRun(silent=False, no_color=True) as live:\n"
        "    for _ in range(3):\n"
        "        live.show(JobStarting('orders'))\n"
        "print('went on')\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=writing, check=False
    )
    os.close(writing)
    assert (done.returncode, done.stdout) == (0, b"went on\n")


def unread(*words: str) -> subprocess.CompletedProcess[str]:
    """Run a command whose output nobody reads."""
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    return done


def test_names_that_are_not_text_can_be_printed(tmp_path: Path) -> None:
    """Also on a terminal that knows ASCII alone."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    (root / "commits").joinpath(os.fsdecode(b".9\xff\xe9.crc")).write_bytes(b"")
    for options in ([], ["--json"]):
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", "inspect", str(root), *options],
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": "ascii"},
            check=False,
        )
        assert done.returncode == 3, done.stderr
        assert b"Traceback" not in done.stderr
        assert b"\\xff" in done.stdout or b"udcff" in done.stdout


def test_a_library_that_fails_while_it_tidies_up_is_not_heard() -> None:
    """fsspec's FTP storage raises when it is discarded unconnected."""
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "inspect", "ftp://localhost:9/x", "--timeout", "5"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 20
    assert done.stderr.startswith("error HF70")
    assert "Traceback" not in done.stderr


def test_a_working_directory_that_is_gone_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody removed the folder under the shell."""
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    shown = holdfast("inspect", "x")
    assert shown.status == 21
    assert "HF7001" in shown.err


@pytest.mark.parametrize(
    ("words", "status", "code"),
    [
        (["inspect", "ROOT"], 20, "HF7015"),
        (["inspect", "ROOT", "--json"], 20, "HF7015"),
        (["--help"], 20, "HF7015"),
        (["inspect", "ROOT/nowhere", "--json"], 21, "HF7001"),
    ],
)
def test_a_full_disk_behind_the_output_is_no_bug(
    tmp_path: Path, words: list[str], status: int, code: str
) -> None:
    """`holdfast inspect … > /full/disk`: standard error says what to do, also with --json."""
    root = sample("stateless", "4.3.0").extract(tmp_path)
    command = [sys.executable, "-m", "holdfast", *(one.replace("ROOT", str(root)) for one in words)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == status
    assert done.stderr.startswith(f"error {code}: ")
    assert "\n  next  " in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("words", "step"),
    [
        (["inspect", "x", "--nope"], "holdfast inspect --help"),
        (["doctor", "--interval", "7"], "holdfast doctor --help"),
        (["--nope"], "holdfast --help"),
        (["inspct"], "holdfast --help"),
    ],
)
def test_a_wrong_option_leads_to_the_help_of_its_command(words: list[str], step: str) -> None:
    assert holdfast(*words, "--json").document["next"] == [step]


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_stream_changes_no_exit_status(tmp_path: Path, closed: str) -> None:
    """Nor does a file that is opened then get what is printed."""
    root = sample("stateless", "4.3.0").extract(tmp_path / "orders")
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    for target, status in ((root, 0), (tmp_path / "none", 21)):
        line = f'"$@" {closed}'
        words = [sys.executable, "-m", "holdfast", "inspect", str(target)]
        done = subprocess.run(
            ["sh", "-c", line, "sh", *words], capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr
        assert "HF1003" not in done.stderr + done.stdout
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before


def test_an_interrupt_while_the_command_loads_prints_no_traceback() -> None:
    """Ctrl-C in the first tenths of a second: the imports are what runs then."""
    program = (
        "import sys\n"
        "class Interrupted:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'click':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\n"
        "from holdfast.__main__ import main\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("value", ["nan", "inf", "1e309", "1e12"])
@pytest.mark.parametrize(
    "words",
    [("inspect", "--timeout"), ("doctor", "--watch", "--interval"), ("backup", "--keep-within")],
)
def test_a_time_that_nobody_can_wait_for_is_a_usage_error(
    words: tuple[str, ...], value: str, tmp_path: Path
) -> None:
    """It is no bug, and no reason to keep or remove backups."""
    place = sample("stateless", "4.3.0").extract(tmp_path)
    shown = holdfast(*words, value, str(place), "--json")
    assert (shown.status, shown.document["error"]["code"]) == (2, "HF1001")


@pytest.mark.parametrize(
    ("words", "choices"),
    [
        (["plan", "reset", "orders"], "It takes clear|keep-new:PATH|none."),
        (["plan", "move", "orders"], "It takes URL."),
        (["plan"], "Choose from: backfill, clean, move, repair, replay, reset, resume, retire."),
    ],
)
def test_what_is_missing_is_named_with_its_choices(words: list[str], choices: str) -> None:
    printed = holdfast(*words)
    assert (printed.status, choices in printed.err) == (2, True), printed.err
    assert "Usage:" not in printed.err


def test_the_help_of_a_remedy_is_named_where_its_options_are_wrong() -> None:
    """Each remedy has options of its own, which the help of `plan` does not show."""
    shown = holdfast("plan", "reset", "orders")
    assert (shown.status, "holdfast plan reset --help" in shown.err) == (2, True)
    assert "holdfast plan --help" in holdfast("plan", "rest", "orders").err
