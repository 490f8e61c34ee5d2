"""Runs the commands of one page in one shell, in a folder that holds a copy of the demo."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.docs.pages import REPOSITORY

NOT_RUN = ("pip ", "make ")
"""Commands that would change the environment of the tests; they are checked in another way."""
_MARK = "@@ next @@"
_ANY = "…"


@contextmanager
def workplace() -> Iterator[Path]:
    """Give a folder with what the pages work with; its name is short, so that lines stay whole."""
    with tempfile.TemporaryDirectory(prefix="h") as name:
        folder = Path(name).resolve()
        shutil.copytree(REPOSITORY / "demo", folder / "demo")
        yield folder


def environment(extra: Mapping[str, str]) -> dict[str, str]:
    """Give the variables of a plain shell where `holdfast` is installed."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("AWS_") and key not in ("COLUMNS", "NO_COLOR", "FORCE_COLOR")
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return {**kept, "PATH": path, "PYTHONUTF8": "1", **extra}


def run_all(commands: Sequence[str], folder: Path, extra: Mapping[str, str]) -> list[str]:
    """Run the commands one after another in one shell; give what each printed.

    The folder that they ran in is left out of paths: it is another one for every reader.
    """
    # As on a terminal, each command has a process group of its own.
    lines = ["set -m"]
    if any("~/" in command for command in commands):
        extra = {**extra, "HOME": str(folder)}
    for command in commands:
        # The status of the command before is handed on, so that a page can show `echo $?`.
        lines += [f"__status=$?; printf '{_MARK}\\n'; (exit $__status)"]
        lines += [":" if command.startswith(NOT_RUN) else command]
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=folder,
        env=environment(extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=600,
        check=False,
        start_new_session=True,
    )
    return done.stdout.decode().replace(f"{folder}/", "").split(f"{_MARK}\n")[1:]


def fits(shown: str, printed: str) -> bool:
    """Compare what a page shows with what was printed.

    A line of `…` stands for any lines, and `…` within a line for any text of that line, with
    the spaces around it.
    """
    pattern = ""
    for line in _lines(shown):
        pattern += r"(?:[^\n]*\n)*?" if line == _ANY else _line_pattern(line) + r"\n"
    text = "".join(f"{line}\n" for line in _lines(printed))
    return re.fullmatch(pattern, text) is not None


def _line_pattern(line: str) -> str:
    return r"[^\n]*?".join(re.escape(part) for part in re.split(rf" *{_ANY} *", line))


def _lines(text: str) -> list[str]:
    return [line.rstrip() for line in text.rstrip().split("\n")]
