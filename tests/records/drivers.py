"""Folders, clocks, and drivers in processes of their own for the tests of records."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from holdfast.errors import LeaseError
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.leases.taking import Lease, take_lease
from holdfast.records.processes import Holder, this_holder
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings

SPAWN = multiprocessing.get_context("spawn")


def records_in(folder: Path, name: str = "orders") -> RecordsFolder:
    """Give the records of a checkpoint in a folder."""
    return records_of(parse_location(str(folder / name)), StorageSettings())


def elsewhere(holder: Holder | None = None) -> Holder:
    """Give a holder of another machine."""
    return replace(holder or this_holder(None), machine="another", host="far-away")


@dataclass
class Clock:
    """Time that passes only by sleeping; whatever is planned for a moment happens then."""

    now: float = 1000.0
    slept: float = 0.0
    planned: list[tuple[float, Callable[[], object]]] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        self.slept += seconds
        due = [one for one in self.planned if one[0] <= self.slept]
        self.planned = [one for one in self.planned if one[0] > self.slept]
        for _, act in due:
            act()

    def at(self, seconds: float, act: Callable[[], object]) -> None:
        """Plan something for when so much was slept."""
        self.planned.append((seconds, act))


def taken(folder: RecordsFolder, holder: Holder | None = None, clock: Clock | None = None) -> Lease:
    """Take the lease with a clock that runs only by sleeping."""
    time = clock or Clock()
    return take_lease(
        folder, job="orders", holder=holder or this_holder(None), clock=time, sleep=time.sleep
    )


def outcome_of(folder: RecordsFolder, holder: Holder | None = None) -> str:
    """Take the lease without releasing it: the generation, or the code of the refusal."""
    try:
        return str(taken(folder, holder).generation)
    except LeaseError as error:
        return error.code.number


@contextmanager
def living_process() -> Iterator[subprocess.Popen[bytes]]:
    """Run a process that does nothing until it is ended."""
    with subprocess.Popen((sys.executable, "-c", "input()"), stdin=subprocess.PIPE) as process:
        try:
            yield process
        finally:
            process.kill()


_DRIVER = """
import subprocess, sys, time
from pathlib import Path
from holdfast.errors import LeaseError
from holdfast.records.processes import this_holder
from holdfast.records.leases.taking import take_lease
from tests.records.drivers import records_in

jvm = None
if sys.argv[2] == "jvm":
    jvm = subprocess.Popen((sys.executable, "-c", "import signal; signal.pause()")).pid
folder = records_in(Path(sys.argv[1]), sys.argv[3])
lease = take_lease(folder, job="orders", holder=this_holder(jvm))
lease.start_beating()
print(lease.generation, jvm or 0, flush=True)
try:
    while True:
        lease.confirm()
        time.sleep(0.05)
except LeaseError as error:
    print(error.code.number, flush=True)
"""


@contextmanager
def driver(
    folder: Path, *, jvm: bool = False, name: str = "orders"
) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run a driver in a group of its own that holds the lease; give it and its JVM's number."""
    arguments = (sys.executable, "-c", _DRIVER, str(folder), "jvm" if jvm else "alone", name)
    root = str(Path(__file__).resolve().parents[2])
    environment = {**os.environ, "PYTHONPATH": root}
    with subprocess.Popen(
        arguments, stdout=subprocess.PIPE, text=True, start_new_session=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            _, number = process.stdout.readline().split()
            yield process, int(number)
        finally:
            _end_group(process.pid)


def _end_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
