"""The first signal asks, a second one insists, and afterwards signals are as they were."""

from __future__ import annotations

import os
import signal
import subprocess
import threading

import pytest

from holdfast.running.stopping import SIGNALS, Stopping, hangups_ignored, heeding_signals


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


def test_a_hangup_that_is_ignored_stays_ignored() -> None:
    """`nohup holdfast run` goes on when the session is closed."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        stopping = Stopping()
        with heeding_signals(stopping):
            os.kill(os.getpid(), signal.SIGHUP)
            assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
            assert not stopping.wait(0.1)
        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_a_process_started_meanwhile_ignores_a_hangup() -> None:
    """As the JVM must: a closed terminal signals it together with the driver."""
    with heeding_signals(Stopping()):
        handler = signal.getsignal(signal.SIGHUP)
        with hangups_ignored():
            child = subprocess.Popen(["sleep", "60"])
        assert signal.getsignal(signal.SIGHUP) == handler
    try:
        child.send_signal(signal.SIGHUP)
        with pytest.raises(subprocess.TimeoutExpired):
            child.wait(0.2)
    finally:
        child.kill()
        child.wait()


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


def test_each_ask_is_answered_once_and_may_ask_again_itself() -> None:
    """Whoever is told may ask: nobody waits for a lock."""
    stopping = Stopping()
    done: list[str] = []

    def asked() -> None:
        done.append("asked")
        stopping.ask()

    stopping.when_asked(asked)
    stopping.when_insisted(lambda: done.append("insisted"))
    stopping.ask()
    stopping.ask()
    assert done == ["asked", "insisted"]


def test_the_first_signal_is_acknowledged_although_a_program_asked_before() -> None:
    """As --fail-fast does: whoever presses Ctrl-C for the first time is told what goes on."""
    stopping = Stopping()
    done: list[str] = []
    stopping.when_asked(lambda: done.append("asked"))
    stopping.ask()
    stopping.ask(signal.SIGINT)
    assert (done, stopping.at_once) == (["asked", "asked"], False)
    stopping.ask(signal.SIGTERM)
    assert (stopping.at_once, stopping.signal) == (True, signal.SIGINT)


def test_jobs_that_work_name_their_batch() -> None:
    """For as long as they do."""
    stopping = Stopping()
    with stopping.work("orders", lambda: 7), stopping.work("idle", lambda: None):
        assert stopping.working == {"orders": 7, "idle": None}
    assert stopping.working == {}


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_interrupts_what_has_nothing_to_finish(number: signal.Signals) -> None:
    """Once: what is cleaned up after it is not interrupted again."""
    stopping = Stopping()
    with heeding_signals(stopping):
        with pytest.raises(KeyboardInterrupt), stopping.interruptible():
            try:
                signal.raise_signal(number)
            finally:
                signal.raise_signal(number)
        assert stopping.wait_at_once(5) and stopping.signal == number
        with pytest.raises(KeyboardInterrupt), stopping.interruptible():
            raise AssertionError("somebody asked before")


def test_a_signal_is_heard_while_the_main_thread_holds_what_the_hearer_needs() -> None:
    """The hearer runs in a thread of its own, so that a lock only delays it."""
    stopping, lock, heard = Stopping(), threading.Lock(), threading.Event()

    def hear() -> None:
        with lock:
            heard.set()

    stopping.when_asked(hear)
    with heeding_signals(stopping):
        with lock:
            signal.raise_signal(signal.SIGTERM)
            assert stopping.wait(5) and not heard.is_set()
        assert heard.wait(5)
