"""Explores for a given time in several processes, and goes on where an earlier one ended."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.simulation.exploring import Bound, drawn_schedule, every_schedule, run_fixed, shrunk
from tests.simulation.scenarios import SCENARIOS, Scenario
from tests.simulation.schedule import spell
from tests.simulation.simulating import Verdict, simulation

_MOST_FAILURES = 20
_SAVED_EVERY = 500
_DIGEST_BYTES = 8

Place = tuple[Scenario, str]


@dataclass
class Tally:
    """What one process, or all of them, have explored."""

    schedules: int = 0
    seconds: float = 0.0
    digests: set[bytes] = field(default_factory=set)
    failures: dict[str, str] = field(default_factory=dict)
    """The command that repeats a failure, and what is broken then."""
    exhausted: list[str] = field(default_factory=list)
    """Where every schedule with one decision was run."""
    next_seed: int = 0

    @property
    def distinct(self) -> int:
        """How many schedules did different things."""
        return len(self.digests)


def every_place() -> list[Place]:
    """Return every scenario on every storage."""
    return [(scenario, storage) for scenario in SCENARIOS for storage in scenario.storages]


def command(scenario: Scenario, storage: str, verdict: Verdict, mutant: str | None = None) -> str:
    """Spell the one command that repeats a schedule."""
    broken = "" if mutant is None else f" --mutant {mutant}"
    return (
        f"python -m tests.simulation --scenario {scenario.name} --semantics {storage} "
        f"--schedule {spell(verdict.schedule)}{broken}"
    )


def audit(folder: Path, minutes: float, processes: int, seed: int) -> Tally:
    """Explore for so long; what was explored before is kept in the folder and not run again."""
    folder.mkdir(parents=True, exist_ok=True)
    until = time.time() + minutes * 60
    workers = [
        multiprocessing.Process(target=_explore, args=(folder, number, processes, seed, until))
        for number in range(processes)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return tallied(folder)


def tallied(folder: Path) -> Tally:
    """Add up what all processes have explored so far."""
    total = Tally()
    for path in sorted(folder.glob("state-*.json")):
        one = _loaded(folder, int(path.stem.rpartition("-")[2]))
        total.schedules += one.schedules
        total.seconds += one.seconds
        total.digests |= one.digests
        total.failures |= one.failures
        total.exhausted += one.exhausted
    return total


def _explore(folder: Path, number: int, processes: int, seed: int, until: float) -> None:
    tally = _loaded(folder, number)
    begun, saved, fresh = time.process_time(), 0, bytearray()
    with simulation():
        for scenario, storage, verdict in _verdicts(tally, number, processes, seed):
            digest = bytes.fromhex(verdict.digest)[:_DIGEST_BYTES]
            tally.schedules += 1
            if digest not in tally.digests:
                tally.digests.add(digest)
                fresh += digest
            if verdict.violations and len(tally.failures) < _MOST_FAILURES:
                _keep(tally, scenario, storage, verdict)
            if tally.schedules - saved >= _SAVED_EVERY or time.time() >= until:
                saved = tally.schedules
                now = time.process_time()
                tally.seconds, begun = tally.seconds + now - begun, now
                _save(folder, number, tally, fresh)
                fresh.clear()
            if time.time() >= until:
                return


def _verdicts(
    tally: Tally, number: int, processes: int, seed: int
) -> Iterator[tuple[Scenario, str, Verdict]]:
    """Yield every schedule with one decision first, then what seeds give, without end."""
    places = every_place()
    for scenario, storage in places[number::processes]:
        name = f"{scenario.name}/{storage}"
        if name in tally.exhausted:
            continue
        for bound in (Bound(1, 0), Bound(0, 1)):
            for verdict in every_schedule(scenario, storage, bound):
                yield scenario, storage, verdict
        tally.exhausted.append(name)
    while True:
        drawn = seed + tally.next_seed * processes + number
        scenario, storage = places[tally.next_seed % len(places)]
        tally.next_seed += 1
        yield scenario, storage, drawn_schedule(scenario, storage, drawn)


def _keep(tally: Tally, scenario: Scenario, storage: str, verdict: Verdict) -> None:
    least = shrunk(lambda one: run_fixed(scenario, storage, one, idle=True, examined=True), verdict)
    tally.failures[command(scenario, storage, least)] = "; ".join(least.violations)
    print(f"FAILED {'; '.join(least.violations)}", flush=True)
    print(f"       again: {command(scenario, storage, least)}", flush=True)


def _loaded(folder: Path, number: int) -> Tally:
    state, digests = folder / f"state-{number}.json", folder / f"digests-{number}.bin"
    if not state.exists():
        return Tally()
    known = json.loads(state.read_text(encoding="utf-8"))
    content = digests.read_bytes() if digests.exists() else b""
    starts = range(0, len(content) - _DIGEST_BYTES + 1, _DIGEST_BYTES)
    return Tally(
        schedules=known["schedules"],
        seconds=known["seconds"],
        digests={content[start : start + _DIGEST_BYTES] for start in starts},
        failures=known["failures"],
        exhausted=known["exhausted"],
        next_seed=known["next_seed"],
    )


def _save(folder: Path, number: int, tally: Tally, fresh: bytes | bytearray) -> None:
    """Digests first: a kill in between counts a few schedules too few, never too many."""
    with (folder / f"digests-{number}.bin").open("ab") as file:
        file.write(fresh)
    document = {
        "schedules": tally.schedules,
        "seconds": round(tally.seconds, 1),
        "failures": tally.failures,
        "exhausted": tally.exhausted,
        "next_seed": tally.next_seed,
    }
    path = folder / f"state-{number}.json"
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(document, indent=1), encoding="utf-8")
    temporary.replace(path)
