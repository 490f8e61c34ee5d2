"""How a JVM ended, and whether memory ran out: what its status, its last lines and the kernel say.

The kernel kills without a word to the process. Its counters are in the control group of the process
(memory.events, or memory.oom_control of the older version), its log in /dev/kmsg, where they may be
read at all.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from enum import Enum
from io import FileIO
from pathlib import Path

from holdfast.records.processes import Process

SPARK_OUT_OF_MEMORY = 52
"""The status with which Spark ends a JVM that ran out of memory."""
_SHELL_SIGNAL = 128
_HEAP = re.compile(r"java\.lang\.OutOfMemoryError(?:: (?P<what>[\w ]+))?")
_NATIVE = re.compile(r"insufficient memory for the Java Runtime Environment")
_OOM_KILLS = re.compile(r"^oom_kill (?P<count>\d+)$", re.MULTILINE)
_OLD_CONTROLLER = "memory"
_KERNEL_LOG = Path("/dev/kmsg")
_LONGEST_LOG_ENTRY = 8192


class Shortage(Enum):
    """Who reported that memory ran out."""

    HEAP = "heap"
    """The JVM: its heap, or Java memory beside it, is too small."""
    MACHINE = "machine"
    """The kernel, or the JVM that got nothing from it: the container or the machine is full."""


@dataclass(frozen=True)
class JvmDeath:
    """The end of a JVM that nobody asked for."""

    number: int
    """Its process number."""
    status: int | None = None
    """Its exit status; None where a signal ended it, or where only its parent could know."""
    signal: int | None = None
    shortage: Shortage | None = None
    evidence: str | None = None
    """Who says that memory ran out, in which words."""

    @property
    def words(self) -> str:
        """Say in one line which process ended, and how."""
        why = f" ({self.evidence})" if self.evidence else ""
        return f"Spark's JVM (process {self.number}) {self._how}{why}"

    @property
    def _how(self) -> str:
        if self.signal is not None:
            return f"was killed by signal {self.signal} ({signal_name(self.signal)})"
        return "is gone" if self.status is None else f"ended with exit status {self.status}"


def death_of(
    process: Process, code: int | None, said: Sequence[str], kernel: Sequence[str] = ()
) -> JvmDeath:
    """Return how a process ended. `code` is Popen's: negative for a signal, None for unknown.

    `said` are its last lines, `kernel` what the kernel reported about killing it.
    """
    status, number = _status_and_signal(code)
    shortage, evidence = _shortage(status, number, said, kernel)
    return JvmDeath(
        process.number, status=status, signal=number, shortage=shortage, evidence=evidence
    )


def signal_name(number: int) -> str:
    """Return `SIGKILL` for 9."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return "unknown"


class KernelWatch:
    """Remembers the kernel's count of killed processes, to see whether it grew."""

    def __init__(self, group: Path | None = None) -> None:
        self._group = own_memory_group() if group is None else group
        self._before = _count_of_kills(self._group)

    def reports_on(self, process: Process) -> list[str]:
        """Return what the kernel says about a process that it may have killed; often nothing."""
        found = list(_kernel_log(process))
        kills = _count_of_kills(self._group)
        if kills is not None and self._before is not None and kills > self._before:
            found.append("the kernel's counter oom_kill of its control group grew")
        return found


def own_memory_group(groups: Path = Path("/proc/self/cgroup")) -> Path | None:
    """Return the folder of this process's memory control group, None where there is none."""
    try:
        lines = groups.read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    root = Path("/sys/fs/cgroup")
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers in ("", _OLD_CONTROLLER):
            base = root / controllers if controllers else root
            # Within a container the path of the machine outside is not there, the root is.
            for folder in (base / path.lstrip("/"), base):
                if _count_of_kills(folder) is not None:
                    return folder
    return None


def killed_in(entries: Iterable[str], process: Process) -> Iterator[str]:
    """Yield what the kernel's log says of killing a process; entries from before its start don't.

    An entry reads `6,1234,98765432,-;Out of memory: Killed process 42 (java) total-vm:…`, with the
    microseconds since the machine started.
    """
    started = int(process.started) / os.sysconf("SC_CLK_TCK") if process.started else 0.0
    killed = f"Killed process {process.number} "
    for entry in entries:
        head, _, text = entry.partition(";")
        moment = head.split(",")[2:3]
        if killed in text and moment and moment[0].isdigit() and int(moment[0]) / 1e6 >= started:
            sentence = text.partition("\n")[0].partition(" total-vm")[0]
            yield f"the kernel's log: {sentence.strip()}"


def _status_and_signal(code: int | None) -> tuple[int | None, int | None]:
    """Split Popen's code; a shell, or a JVM that caught SIGTERM, adds 128 to the signal."""
    if code is None:
        return None, None
    if code < 0:
        return None, -code
    if signal_name(code - _SHELL_SIGNAL) != "unknown":
        return None, code - _SHELL_SIGNAL
    return code, None


def _shortage(
    status: int | None, number: int | None, said: Sequence[str], kernel: Sequence[str]
) -> tuple[Shortage | None, str | None]:
    if number == signal.SIGKILL and kernel:
        return Shortage.MACHINE, kernel[0]
    text = "".join(said)
    if _NATIVE.search(text):
        return Shortage.MACHINE, "Java: there is insufficient memory to continue"
    if match := _HEAP.search(text):
        return Shortage.HEAP, match[0]
    if status == SPARK_OUT_OF_MEMORY:
        return Shortage.HEAP, "Spark's exit status for an OutOfMemoryError"
    return None, None


def _count_of_kills(group: Path | None) -> int | None:
    for name in ("memory.events", "memory.oom_control"):
        try:
            found = _OOM_KILLS.search((group / name).read_text()) if group else None
        except OSError:
            continue
        if found is not None:
            return int(found["count"])
    return None


def _kernel_log(process: Process) -> Iterator[str]:
    try:
        with closing(FileIO(os.open(_KERNEL_LOG, os.O_RDONLY | os.O_NONBLOCK))) as log:
            yield from killed_in(_entries(log), process)
    except OSError:
        # Most users may not read it, and containers often have none.
        return


def _entries(log: FileIO) -> Iterator[str]:
    """Yield entry by entry until there is none; one that was overwritten meanwhile is passed."""
    while True:
        try:
            entry = os.read(log.fileno(), _LONGEST_LOG_ENTRY)
        except BlockingIOError:
            return
        except BrokenPipeError:
            continue
        if not entry:
            return
        yield entry.decode("utf-8", "replace")
