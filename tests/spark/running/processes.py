"""Runs `holdfast` in processes of its own, which can be killed, stopped and watched."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.parts import classarchive

WAIT_SECONDS = 900


def call(folder: Path, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, as the leader of its own process group.

    Where it was killed, its JVM was too: that one may take a moment longer to be gone.
    """
    with started(folder, *words, **variables) as process:
        output, errors = process.communicate(timeout=WAIT_SECONDS)
        if process.returncode == -signal.SIGKILL:
            wait_for(lambda: not _living_of_group(process.pid), "the end of a killed group")
    return subprocess.CompletedProcess(process.args, process.returncode, output, errors)


def result_of(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Give the document that a command printed."""
    document = json.loads(done.stdout)
    assert isinstance(document, dict)
    return document


@contextlib.contextmanager
def started(folder: Path, *words: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
    """Start a command and leave nothing of it running."""
    process = subprocess.Popen(
        _command(words),
        cwd=folder,
        env={**os.environ, classarchive.VARIABLE: classarchive.quick_java(), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=WAIT_SECONDS)


class Terminal:
    """A command in a terminal of its own: what it shows, and keys that are pressed."""

    def __init__(self, folder: Path, *words: str, **variables: str) -> None:
        self._screen, terminal = pty.openpty()
        # Who leads a session and opens a terminal has it for its own: there Ctrl-C is a signal.
        shell = f'exec "$@" <{os.ttyname(terminal)} >{os.ttyname(terminal)} 2>&1'
        self.process = subprocess.Popen(
            ["sh", "-c", shell, "sh", *_command(words)],
            cwd=folder,
            env={**os.environ, classarchive.VARIABLE: classarchive.quick_java(), **variables},
            start_new_session=True,
        )
        self._terminal: int | None = terminal
        self._text = ""
        self._is_watched = True
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def text(self) -> str:
        """Everything shown so far, without colours and cursor movements."""
        return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", self._text)

    def hang_up(self) -> None:
        """Close the terminal, as a lost ssh session does: its foreground gets SIGHUP."""
        self._is_watched = False
        self._reader.join(WAIT_SECONDS)

    def press_ctrl_c(self) -> None:
        """Let the terminal send SIGINT to every process in its foreground."""
        os.write(self._screen, b"\x03")

    def wait(self) -> int:
        """Wait until the command has ended, and for all that it showed."""
        status = self.process.wait(WAIT_SECONDS)
        self._close()
        return status

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_failure: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(WAIT_SECONDS)
        self._close()

    def _close(self) -> None:
        """Let the reader come to its end: nobody has the terminal open any more."""
        if self._terminal is not None:
            os.close(self._terminal)
            self._terminal = None
        self._reader.join(WAIT_SECONDS)

    def _read(self) -> None:
        with os.fdopen(self._screen, "rb", buffering=0) as screen, contextlib.suppress(OSError):
            # Linux reports an error where nobody has the terminal open any more.
            while self._is_watched:
                if select.select([screen], [], [], 0.1)[0]:
                    if not (shown := screen.read(4096)):
                        break
                    self._text += shown.decode("utf-8", "replace")


def wait_for(condition: Callable[[], object], what: str) -> None:
    """Wait until something is so."""
    until = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < until, f"waited in vain: {what}"
        time.sleep(0.05)


def java_below(process: int) -> list[int]:
    """Give the Java processes that a process started, itself or through others."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                name, _, rest = (entry / "stat").read_text().rpartition(")")
                parents[int(entry.name)] = int(rest.split()[1])
                names[int(entry.name)] = name.partition("(")[2]
    return [one for one in parents if names[one] == "java" and _is_below(one, process, parents)]


def _living_of_group(group: int) -> list[int]:
    """Give the processes of a group that have not ended, in all of their threads."""
    living = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            has_ended = fields[0] in "ZX" and len(list((entry / "task").iterdir())) <= 1
            if int(fields[2]) == group and not has_ended:
                living.append(int(entry.name))
    return living


def _is_below(one: int, root: int, parents: dict[int, int]) -> bool:
    while one in parents and one != root:
        one = parents[one]
    return one == root


def _command(words: tuple[str, ...]) -> list[str]:
    return [sys.executable, "-m", "holdfast", *words]
