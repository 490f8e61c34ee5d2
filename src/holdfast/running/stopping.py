"""Remembers that somebody asked to stop: the first signal asks, a second one insists.

Signals are heard by a thread of their own, through a pipe that the interpreter writes to: whatever
the main thread waits for, and whichever lock it holds, a signal is acknowledged at once.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

_HANGUP: signal.Signals | None = getattr(signal, "SIGHUP", None)
"""What a terminal or an ssh session sends when it is closed; Windows has none."""
SIGNALS = (signal.SIGTERM, signal.SIGINT, *(() if _HANGUP is None else (_HANGUP,)))
GRACE_SECONDS = 300.0
"""How long a running sink call is let finish."""

Act = Callable[[], None]


class Stopping:
    """Whether a run continues. After a stop request, no new sink call begins."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._at_once = threading.Event()
        self._asking = threading.Lock()
        self._when_asked: list[Act] = []
        self._when_insisted: list[Act] = []
        self._working: dict[str, Callable[[], int | None]] = {}
        self._interruptible = False
        self.signal: int | None = None
        """The first signal that asked, None where a program did."""

    @property
    def asked(self) -> bool:
        """Whether to stop when the running sink call is done."""
        return self._asked.is_set()

    @property
    def at_once(self) -> bool:
        """Whether to stop without waiting for anything."""
        return self._at_once.is_set()

    @property
    def working(self) -> Mapping[str, int | None]:
        """The jobs that run, each with the batch that it delivers right now."""
        return {job: batch() for job, batch in list(self._working.items())}

    def ask(self, number: int | None = None) -> None:
        """Stop when the running sink call is done; on a second call, stop at once.

        `number` is the signal that requests it. The first signal never stops at once.
        """
        with self._asking:
            insists = self._asked.is_set() and (number is None or self.signal is not None)
            self.signal = self.signal or number
            self._asked.set()
            acts = list(self._when_insisted if insists else self._when_asked)
            if self.at_once:
                # What had to be done is done, or under way.
                acts = []
            elif insists:
                self._at_once.set()
        for act in acts:
            act()

    def when_asked(self, act: Act) -> None:
        """Call this when somebody asks without insisting, from the thread that asks."""
        self._when_asked.append(act)

    def when_insisted(self, act: Act) -> None:
        """Call this when somebody asks again, after all that were named before."""
        self._when_insisted.append(act)

    @contextmanager
    def work(self, job: str, batch: Callable[[], int | None]) -> Iterator[None]:
        """Count a job as running; `batch` says which batch it delivers right now."""
        self._working[job] = batch
        try:
            yield
        finally:
            del self._working[job]

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """Let a signal raise KeyboardInterrupt in the main thread: nothing is to be finished."""
        self._interruptible = True
        try:
            if self.asked:
                raise KeyboardInterrupt
            yield
        finally:
            self._interruptible = False

    def heard(self, _number: int, _frame: FrameType | None) -> None:
        """Take a signal in the main thread; the thread that listens does the rest."""
        if self._interruptible:
            # Once: what is under way has to be cleaned up.
            self._interruptible = False
            raise KeyboardInterrupt

    def wait(self, seconds: float) -> bool:
        """Wait for a stop request, at most so long; return whether there was one."""
        return self._asked.wait(seconds)

    def wait_at_once(self, seconds: float) -> bool:
        """Wait for a second stop request, at most so long; return whether there was one."""
        return self._at_once.wait(seconds)


@contextmanager
def heeding_signals(stopping: Stopping) -> Iterator[None]:
    """Let SIGTERM, Ctrl-C and SIGHUP request a stop; this works only in the main thread.

    A SIGHUP that is ignored stays so: `nohup` asks for that.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    listener = threading.Thread(
        target=_listen, args=(reading, stopping), name="holdfast-signals", daemon=True
    )
    listener.start()
    pipe_before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
    heeded = [one for one in SIGNALS if one != _HANGUP or not _is_ignored(one)]
    before = {number: signal.signal(number, stopping.heard) for number in heeded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(pipe_before)
        os.close(writing)
        listener.join()


@contextmanager
def handlers_kept() -> Iterator[None]:
    """Undo what the body does to the handlers of signals: pyspark takes Ctrl-C for itself."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def hangups_ignored() -> Iterator[None]:
    """Let a process that the body starts ignore SIGHUP: a closed terminal sends it to all.

    The driver finishes the running delivery first, and needs its JVM for that.
    """
    if _HANGUP is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(_HANGUP, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(_HANGUP, before)


def _is_ignored(number: signal.Signals) -> bool:
    return signal.getsignal(number) is signal.SIG_IGN


def _listen(pipe: int, stopping: Stopping) -> None:
    """Ask to stop for each signal that comes through the pipe, until it is closed."""
    with os.fdopen(pipe, "rb", buffering=0) as signals:
        while heard := signals.read(1):
            if heard[0] in SIGNALS:
                stopping.ask(heard[0])
