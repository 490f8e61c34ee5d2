"""Explore schedules of the PostgreSQL sink, or repeat one of them.

python -m tests.simulation.postgres --minutes 10 --processes 2
python -m tests.simulation.postgres --scenario rewind --schedule 7:1
python -m tests.simulation.postgres --mutants
"""

from __future__ import annotations

import argparse
import signal
import sys
from contextlib import nullcontext
from pathlib import Path

from tests.simulation.postgres.choices import parsed
from tests.simulation.postgres.exploring import told
from tests.simulation.postgres.longrunning import EVERY_STATEMENT, run_for
from tests.simulation.postgres.mutants import MUTANTS, hunt
from tests.simulation.postgres.running import Ran, Stage
from tests.simulation.postgres.scenarios import SCENARIOS
from tests.simulation.postgres.server import quick_server


def main() -> int:
    """Run what was asked for; 1 where something was found."""
    arguments = _arguments()
    if arguments.mutants:
        return _mutants()
    if arguments.scenario:
        return _repeat(arguments)
    return _long(arguments)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.simulation.postgres", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("--scenario", choices=SCENARIOS, help="Repeat one schedule of it.")
    parser.add_argument("--schedule", default="", help="Deviations, as a failure prints them.")
    parser.add_argument("--mutant", choices=MUTANTS, help="Break the sink in this way.")
    parser.add_argument(
        "--every-statement", action="store_true",
        help="Stop also before statements that no other actor can notice.",
    )  # fmt: skip
    parser.add_argument("--mutants", action="store_true", help="Hunt every mutant.")
    parser.add_argument("--minutes", type=float, default=1.0, help="How long to explore.")
    parser.add_argument("--processes", type=int, default=2, help="Each with a server of its own.")
    parser.add_argument(
        "--progress", type=Path, default=Path("build/simulation/postgres"),
        help="Where progress is kept; delete it to begin again.",
    )  # fmt: skip
    return parser.parse_args()


def _repeat(arguments: argparse.Namespace) -> int:
    broken = MUTANTS[arguments.mutant].broken() if arguments.mutant else nullcontext()
    with broken, quick_server() as server:
        stage = Stage(
            SCENARIOS[arguments.scenario], server, every_statement=arguments.every_statement
        )
        stage.begin()
        ran = stage.repeat(parsed(arguments.schedule))
        stage.close()
    _show(ran)
    options = [EVERY_STATEMENT] if arguments.every_statement else []
    options += ["--mutant", arguments.mutant] if arguments.mutant else []
    print(told(ran, *options) if ran.faults else "nothing is wrong")
    return 1 if ran.faults else 0


def _show(ran: Ran) -> None:
    deviations = dict(ran.schedule)
    for number, step in enumerate(ran.steps):
        mark = ">" if number in deviations else " "
        action = "" if step.option.action == "go" else f" [{step.option.action}]"
        print(f"{mark}{number:4} {step.option.actor}{action}: {step.point[:120]}")
    print(*ran.ends, sep="\n")


def _mutants() -> int:
    missed = 0
    with quick_server() as server:
        for name, mutant in MUTANTS.items():
            found = hunt(mutant, server)
            missed += found.failure is None
            what = "NOT FOUND" if found.failure is None else told(
                found.failure, "--mutant", name
            )  # fmt: skip
            print(f"{name}: {found.schedules} schedules\n{what}\n", flush=True)
    return 1 if missed else 0


def _long(arguments: argparse.Namespace) -> int:
    # Whoever stops it early leaves no server behind, and the progress of every whole slice.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    results = run_for(arguments.minutes, arguments.processes, arguments.progress)
    schedules = distinct = 0
    seconds = 0.0
    failures = []
    for name, (progress, traces) in results.items():
        schedules += progress.schedules
        distinct += traces
        seconds += progress.seconds
        failures += progress.failures
        left = len(progress.todo) + len(progress.later)
        print(f"{name:18} {progress.schedules:8} schedules {traces:8} distinct, "
              f"{progress.exhaustive:7} of them listed ({left} to go)")  # fmt: skip
    rate = schedules / seconds if seconds else 0.0
    print(f"{schedules} schedules, {distinct} distinct, {rate:.1f} per second and process, "
          f"{len(failures)} failures")  # fmt: skip
    print(*dict.fromkeys(failures), sep="\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
