"""Explores for as long as there is time, in several processes; can be stopped and taken up again.

What is done lies in a folder, a file for each scenario: the schedules that are still to be run, the
next seed, and eight bytes for each course of events that was seen.
"""

from __future__ import annotations

import json
import multiprocessing
import time
from array import array
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from tests.simulation.postgres.choices import Schedule, parsed, spelled
from tests.simulation.postgres.exploring import children, drawn, shrunk, told
from tests.simulation.postgres.running import Ran, Stage
from tests.simulation.postgres.scenarios import SCENARIOS
from tests.simulation.postgres.server import Server, quick_server

_SLICE_SECONDS = 30.0
MOST_DEVIATIONS = 2
EVERY_STATEMENT = "--every-statement"


@dataclass
class Progress:
    """How far one scenario is."""

    todo: list[str] = field(default_factory=lambda: [""])
    """Schedules that are next, the last first; then those with one deviation more."""
    later: list[str] = field(default_factory=list)
    deviations: int = 0
    seed: int = 0
    schedules: int = 0
    exhaustive: int = 0
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list)

    @property
    def is_exhausted(self) -> bool:
        """Tell whether every schedule with few deviations was run."""
        return not self.todo and not self.later


class Memory:
    """The progress and the traces of one scenario, on disk."""

    def __init__(self, folder: Path, name: str) -> None:
        self._file, self._traces = folder / f"{name}.json", folder / f"{name}.traces"

    def progress(self) -> Progress:
        """Return what is kept, or a beginning."""
        return Progress(**json.loads(self._file.read_text())) if self._file.exists() else Progress()

    def traces(self) -> set[int]:
        """Return the courses of events that were seen."""
        found = array("Q")
        if self._traces.exists():
            found.frombytes(self._traces.read_bytes())
        return set(found)

    def keep(self, progress: Progress, new: list[int]) -> None:
        """Keep what a slice added."""
        self._file.parent.mkdir(parents=True, exist_ok=True)
        with self._traces.open("ab") as file:
            array("Q", new).tofile(file)
        self._file.write_text(json.dumps(asdict(progress)))


_server: list[Server] = []


def _start(uris: Any) -> None:
    _server.append(Server(uris.get()))


def run_for(minutes: float, processes: int, folder: Path) -> dict[str, tuple[Progress, int]]:
    """Explore every scenario in turn, and return how far each is, with its distinct traces."""
    end = time.monotonic() + minutes * 60
    context = multiprocessing.get_context("spawn")
    servers = [quick_server() for _ in range(processes)]
    uris = context.Queue()
    try:
        for server in servers:
            uris.put(server.__enter__().uri)
        # A worker that is killed ends everything with an error; a Pool would wait for ever.
        with ProcessPoolExecutor(processes, context, _start, (uris,)) as pool:
            _explore_in_turn(pool, processes, end, folder)
    finally:
        for server in servers:
            server.__exit__(None, None, None)
    return summary(folder)


def summary(folder: Path) -> dict[str, tuple[Progress, int]]:
    """Return how far each scenario is, and how many distinct traces it had."""
    memories = {name: Memory(folder, name) for name in SCENARIOS}
    return {name: (one.progress(), len(one.traces())) for name, one in memories.items()}


def _explore_in_turn(pool: Executor, processes: int, end: float, folder: Path) -> None:
    """Give a slice of time to each scenario in turn, never two of them to the same one."""
    waiting = deque(SCENARIOS)
    running: deque[tuple[str, Future[str]]] = deque()
    while running or time.monotonic() < end:
        while len(running) < processes and time.monotonic() < end:
            name = waiting.popleft()
            running.append((name, pool.submit(_slice, (name, str(folder), end))))
        if running:
            name, result = running.popleft()
            print(result.result(), flush=True)
            waiting.append(name)


def _slice(work: tuple[str, str, float]) -> str:
    name, folder, end = work
    seconds = min(_SLICE_SECONDS, end - time.monotonic())
    if seconds <= 0:
        return f"{name}: no time left"
    memory = Memory(Path(folder), name)
    progress, known = memory.progress(), memory.traces()
    new: list[int] = []
    begin = time.monotonic()
    for ran, stage in _runs(name, progress, begin + seconds):
        progress.schedules += 1
        trace = int(ran.trace, 16)
        if trace not in known:
            known.add(trace)
            new.append(trace)
        if ran.faults:
            options = (EVERY_STATEMENT,) if stage.every_statement else ()
            progress.failures.append(told(shrunk(stage, ran), *options))
    progress.seconds += time.monotonic() - begin
    memory.keep(progress, new)
    return f"{name}: {progress.schedules} schedules, {len(progress.failures)} failures"


def _runs(name: str, progress: Progress, end: float) -> Iterator[tuple[Ran, Stage]]:
    """Run listed schedules in the first half of the time, drawn ones in the second."""
    half = time.monotonic() + (end - time.monotonic()) / 2
    with _staged(name, every_statement=False) as stage:
        while time.monotonic() < half and not progress.is_exhausted:
            yield _next(stage, progress), stage
    with _staged(name, every_statement=True) as stage:
        for ran in drawn(stage, count(progress.seed)):
            progress.seed += 1
            yield ran, stage
            if time.monotonic() > end:
                return


def _next(stage: Stage, progress: Progress) -> Ran:
    if not progress.todo:
        progress.todo, progress.later = progress.later[::-1], []
        progress.deviations += 1
    schedule: Schedule = parsed(progress.todo.pop())
    ran = stage.repeat(schedule)
    progress.exhaustive += 1
    if progress.deviations < MOST_DEVIATIONS and not ran.faults:
        progress.later += map(spelled, children(schedule, ran))
    return ran


class _staged:  # noqa: N801 - reads as the act that it is
    def __init__(self, name: str, *, every_statement: bool) -> None:
        self._stage = Stage(SCENARIOS[name], _server[0], every_statement=every_statement)

    def __enter__(self) -> Stage:
        self._stage.begin()
        return self._stage

    def __exit__(self, *_: object) -> None:
        self._stage.close()
