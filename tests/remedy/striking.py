"""Calls of the operating system that fail, or are interrupted, at a counted moment."""

from __future__ import annotations

import errno
import os
import signal
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.cli.main import run

_CHANGING = ("mkdir", "link", "unlink", "replace", "rename", "rmdir")


_FULL = frozenset({"create", "write", "mkdir", "link", "fsync"})
_DENIED = frozenset({"create", *_CHANGING})
_UNREADABLE = _DENIED | {"open", "scandir"}


@dataclass(frozen=True)
class Strike:
    """What happens at a call; without an error of the system it is Ctrl-C."""

    name: str
    errors: Mapping[int, frozenset[str]]
    """Errors of the system, with the calls that can fail so. Of several, they take turns."""
    lasts: bool = False
    """Whether every later call fails as well, until the process ends."""

    def meets(self, call: str) -> bool:
        """Return whether it can happen at a call."""
        if not self.errors:
            return call in _FULL | _DENIED
        return any(call in calls for calls in self.errors.values())

    def happen(self, call: str, count: int) -> None:
        """Fail as the call would, or interrupt it."""
        fitting = [number for number, calls in self.errors.items() if call in calls]
        if not fitting:
            signal.raise_signal(signal.SIGINT)
            return
        number = fitting[count % len(fitting)]
        raise OSError(number, os.strerror(number))


_ERRORS = {errno.ENOSPC: _FULL, errno.EACCES: _DENIED, errno.EROFS: _DENIED}
STRIKES = {
    one.name: one
    for one in (
        Strike("fails-once", _ERRORS),
        Strike("disk-full", {errno.ENOSPC: _FULL}, lasts=True),
        Strike("no-permission", {errno.EACCES: _UNREADABLE}, lasts=True),
        Strike("read-only", {errno.EROFS: _DENIED}, lasts=True),
        Strike("ctrl-c", {}),
    )
}


@dataclass
class _Struck:
    """Counts the calls below a folder, and strikes at the ordered one."""

    strike: Strike
    fatal: int
    root: str
    count: int = 0
    followed: set[int] = field(default_factory=set)
    """Descriptors of files below the folder."""

    def meet(self, call: str) -> None:
        if not self.strike.meets(call):
            return
        self.count += 1
        if self.count == self.fatal or (self.strike.lasts and self.count > self.fatal):
            self.strike.happen(call, self.count)

    def is_below(self, given: Any) -> bool:
        if isinstance(given, int):
            return given in self.followed
        return str(os.fspath(given)).startswith(self.root)

    def install(self) -> None:
        for name in (*_CHANGING, "scandir", "write", "fsync"):
            setattr(os, name, self._counted(name, getattr(os, name)))
        real_open, real_close = os.open, os.close

        def opened(path: Any, flags: int, *arguments: Any, **named: Any) -> int:
            below = self.is_below(path)
            if below:
                self.meet("create" if flags & os.O_CREAT else "open")
            descriptor = real_open(path, flags, *arguments, **named)
            if below:
                self.followed.add(descriptor)
            return descriptor

        def closed(descriptor: int) -> None:
            self.followed.discard(descriptor)
            real_close(descriptor)

        setattr(os, "open", opened)  # noqa: B010 - mypy knows the signature of the real one
        setattr(os, "close", closed)  # noqa: B010

    def _counted(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        flushes = name == "fsync"

        def called(*arguments: Any, **named: Any) -> Any:
            if arguments and self.is_below(arguments[0]):
                self.meet(name)
            # Nothing loses power here, and flushes are slow.
            return None if flushes else real(*arguments, **named)

        return called


@dataclass(frozen=True)
class Ended:
    """How a command ended that was struck."""

    calls: int
    """How many calls it made that could be struck."""
    status: int
    said: str


def struck(words: list[str], strike: Strike, fatal: int, root: Path) -> Ended:
    """Run a command in a process of its own; at the call of this number something happens."""
    log, counted = root.parent / "said.txt", root.parent / "counted.txt"
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            moments = _Struck(strike, fatal, f"{root}{os.sep}")
            with log.open("w", encoding="utf-8") as sys.stderr, log.open("a") as sys.stdout:
                moments.install()
                try:
                    status = run(words)
                except BaseException:  # noqa: BLE001 - shown as the traceback that it is
                    traceback.print_exc()
                    status = 1
            counted.write_text(str(moments.count), encoding="utf-8")
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    calls = int(counted.read_text(encoding="utf-8"))
    return Ended(calls, os.waitstatus_to_exitcode(ended), log.read_text(encoding="utf-8"))
