"""How a JVM ended, in words: statuses, signals, what Java printed, and what the kernel reported."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from holdfast.records.processes import Process
from holdfast.spark.session.jvmdeath import (
    KernelWatch,
    Shortage,
    death_of,
    killed_in,
    own_memory_group,
)

TICKS = os.sysconf("SC_CLK_TCK")
PROCESS = Process(4711, str(100 * TICKS))
KERNEL = "the kernel's log: Out of memory: Killed process 4711 (java)"
HEAP = ("Terminating due to java.lang.OutOfMemoryError: Java heap space\n",)
NATIVE = ("# There is insufficient memory for the Java Runtime Environment to continue.\n",)


@pytest.mark.parametrize(
    ("code", "said", "kernel", "shortage", "words"),
    [
        (-9, (), (), None, "was killed by signal 9 (SIGKILL)"),
        (143, (), (), None, "was killed by signal 15 (SIGTERM)"),
        (-99, (), (), None, "was killed by signal 99 (unknown)"),
        (1, (), (), None, "ended with exit status 1"),
        (None, (), (), None, "is gone"),
        (52, (), (), Shortage.HEAP, "ended with exit status 52 (Spark's exit status for an "),
        (3, HEAP, (), Shortage.HEAP, "(java.lang.OutOfMemoryError: Java heap space)"),
        (-6, NATIVE, (), Shortage.MACHINE, "(Java: there is insufficient memory to continue)"),
        (-9, HEAP, (KERNEL,), Shortage.MACHINE, f"signal 9 (SIGKILL) ({KERNEL})"),
        (1, (), (KERNEL,), None, "ended with exit status 1"),
    ],
)
def test_words_and_shortage(
    code: int | None,
    said: tuple[str, ...],
    kernel: tuple[str, ...],
    shortage: Shortage | None,
    words: str,
) -> None:
    """The kernel is believed only about a process that SIGKILL ended."""
    death = death_of(PROCESS, code, said, kernel)
    assert death.words.startswith("Spark's JVM (process 4711) ") and words in death.words
    assert death.shortage is shortage


def test_the_kernel_log_is_about_this_process_and_this_life_of_its_number() -> None:
    """A number is given out again, and the log keeps older processes."""
    text = "Out of memory: Killed process 4711 (java) total-vm:9kB, anon-rss:5kB"
    entries = [
        f"6,1,99000000,-;{text}\n",
        "6,2,101000000,-;Out of memory: Killed process 47110 (java) total-vm:9kB\n",
        "no entry at all",
        f"6,3,101000000,-;{text}\n SUBSYSTEM=mm\n",
    ]
    assert list(killed_in(entries, PROCESS)) == [KERNEL]


@pytest.mark.parametrize("name", ["memory.events", "memory.oom_control"])
def test_a_counter_that_grew_is_a_report(tmp_path: Path, name: str) -> None:
    """Both versions of control groups; kills from before the start do not count."""
    file = tmp_path / name
    file.write_text("low 0\noom_kill 2\n")
    watch = KernelWatch(tmp_path)
    assert watch.reports_on(PROCESS) == []
    file.write_text("low 0\noom_kill 3\n")
    assert len(watch.reports_on(PROCESS)) == 1
    assert death_of(PROCESS, -signal.SIGKILL, (), watch.reports_on(PROCESS)).shortage


def test_without_control_groups_nothing_is_reported(tmp_path: Path) -> None:
    """Most systems let a process read them; those that do not are no error."""
    assert own_memory_group(tmp_path / "cgroup") is None
    assert KernelWatch(tmp_path).reports_on(PROCESS) == []
