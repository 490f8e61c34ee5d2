"""Writers that fail, or kill their process, at a counted moment."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from holdfast.backup.access import Opener
from holdfast.errors import StorageError
from holdfast.storage.location import Location
from holdfast.storage.opening import open_writer
from holdfast.storage.options import StorageSettings
from holdfast.storage.writing import Writer


def raise_error() -> None:
    """Fail as a storage does."""
    raise StorageError("HF7015", "ordered")


def kill_process() -> None:
    """Die at once, as by a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)
    threading.Event().wait()


@dataclass
class Moments:
    """Counts the moments of all writers of one act; at the ordered one something happens.

    An operation has a moment before it, and, where it writes, one when all bytes are handed over
    and nothing is published yet.
    """

    fatal: int
    strike: Callable[[], None]
    count: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def next(self) -> None:
        """Reach the next moment."""
        with self.lock:
            self.count += 1
            struck = self.count == self.fatal
        if struck:
            self.strike()

    @property
    def survived(self) -> bool:
        """Whether the act ended before the fatal moment came."""
        return self.count < self.fatal

    def opener(self) -> Opener:
        """Open writers whose moments are counted."""

        def opened(location: Location, settings: StorageSettings) -> Writer:
            return CountedWriter(open_writer(location, settings), self)

        return opened


@dataclass
class CountedWriter:
    """Writes through another writer, and counts."""

    writer: Writer
    moments: Moments

    @property
    def location(self) -> str:
        return self.writer.location

    def create(self, path: str, chunks: Iterable[bytes]) -> bool:
        self.moments.next()
        return self.writer.create(path, self._passed(chunks))

    def replace(self, path: str, chunks: Iterable[bytes]) -> None:
        self.moments.next()
        self.writer.replace(path, self._passed(chunks))

    def remove(self, path: str) -> None:
        self.moments.next()
        self.writer.remove(path)

    def move(self, source: str, target: str) -> None:
        self.moments.next()
        self.writer.move(source, target)

    def move_folder(self, source: str, target: str) -> None:
        self.moments.next()
        self.writer.move_folder(source, target)

    def flush(self, path: str) -> None:
        self.moments.next()
        self.writer.flush(path)

    def make_folder(self, path: str) -> None:
        self.moments.next()
        self.writer.make_folder(path)

    def remove_folder(self, path: str) -> None:
        self.moments.next()
        self.writer.remove_folder(path)

    def settle(self) -> None:
        self.moments.next()
        self.writer.settle()

    def _passed(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        yield from chunks
        self.moments.next()


def killed_in_child(act: Callable[[Opener], object], fatal: int) -> bool:
    """Run the act in a process that kills itself at a moment; False when it ended before that."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            moments = Moments(fatal, kill_process)
            act(moments.opener())
            status = 0
        finally:
            os._exit(status)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the act failed in the child"
    return False


def failed_here(act: Callable[[Opener], object], fatal: int) -> bool:
    """Run the act with one failing moment; False when it ended before that."""
    moments = Moments(fatal, raise_error)
    try:
        act(moments.opener())
    except StorageError as error:
        assert error.code.number == "HF7015"
    return not moments.survived


STRIKES = {"killed": killed_in_child, "failed": failed_here}
