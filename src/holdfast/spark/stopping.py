"""Remembers that somebody asked to stop: the first signal asks, a second one insists."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGTERM, signal.SIGINT)
GRACE_SECONDS = 300.0
"""How long a running sink call is let finish."""


class Stopping:
    """Whether a run goes on. Once asked to stop, no new sink call begins."""

    def __init__(self) -> None:
        self._asked = threading.Event()
        self._at_once = threading.Event()
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

    def ask(self) -> None:
        """Stop when the running sink call is done; asked a second time, stop at once."""
        if self._asked.is_set():
            self._at_once.set()
        self._asked.set()

    def wait(self, seconds: float) -> bool:
        """Wait until somebody asks, at most so long; tell whether somebody did."""
        return self._asked.wait(seconds)

    def wait_at_once(self, seconds: float) -> bool:
        """Wait until somebody insists, at most so long; tell whether somebody did."""
        return self._at_once.wait(seconds)


@contextmanager
def heeding_signals(stopping: Stopping) -> Iterator[None]:
    """Let SIGTERM and Ctrl-C ask to stop; elsewhere than in the main thread they can't be heard."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def heard(number: int, _frame: FrameType | None) -> None:
        stopping.signal = stopping.signal or number
        stopping.ask()

    before = {number: signal.signal(number, heard) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
