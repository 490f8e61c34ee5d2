"""The first signal asks, a second one insists, and afterwards signals are as they were."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from holdfast.spark.stopping import SIGNALS, Stopping, heeding_signals


@pytest.mark.parametrize("number", SIGNALS)
def test_signals_ask_and_then_insist(number: signal.Signals) -> None:
    """The first signal is remembered; it decides the exit status."""
    before = {one: signal.getsignal(one) for one in SIGNALS}
    stopping = Stopping()
    with heeding_signals(stopping):
        os.kill(os.getpid(), number)
        assert stopping.wait(5) and stopping.asked and not stopping.at_once
        os.kill(os.getpid(), signal.SIGTERM)
        assert stopping.wait_at_once(5)
        assert stopping.signal == number
    assert {one: signal.getsignal(one) for one in SIGNALS} == before


def test_a_program_asks_without_a_signal() -> None:
    """Then no signal decides the exit status."""
    stopping = Stopping()
    stopping.ask()
    assert stopping.asked and not stopping.at_once and stopping.signal is None


def test_other_threads_leave_signals_alone() -> None:
    """Python hears signals in the main thread only."""
    seen: list[object] = []

    def body() -> None:
        with heeding_signals(Stopping()):
            seen.append(signal.getsignal(signal.SIGTERM))

    thread = threading.Thread(target=body)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGTERM)]
