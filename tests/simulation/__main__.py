"""`python -m tests.simulation`: explores schedules, repeats one, or hunts the mutants."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import ExitStack
from pathlib import Path

from tests.simulation.auditing import audit
from tests.simulation.exploring import run_fixed
from tests.simulation.hunting import hunt_often
from tests.simulation.mutants import MUTANTS, mutant_named
from tests.simulation.reporting import figures, mutant_table, put, scenario_table
from tests.simulation.scenarios import SCENARIOS, scenario_named
from tests.simulation.schedule import parse
from tests.simulation.semantics import SEMANTICS
from tests.simulation.simulating import Verdict, simulation

SEED = 20261116


def main() -> int:
    """Do what is asked; 1 where a promise is broken, or a mutant escapes."""
    options = _options()
    # Sets are iterated in the order of their hashes: the same in every process.
    if os.environ.get("PYTHONHASHSEED") != "0":
        os.environ["PYTHONHASHSEED"] = "0"
        os.execv(sys.executable, [sys.executable, "-m", "tests.simulation", *sys.argv[1:]])
    if options.scenario:
        return _repeat(options)
    return _hunt(options) if options.mutants else _audit(options)


def _repeat(options: argparse.Namespace) -> int:
    with simulation(), ExitStack() as stack:
        if options.mutant:
            stack.enter_context(mutant_named(options.mutant).at_work())
        verdict = run_fixed(
            scenario_named(options.scenario),
            options.semantics,
            parse(options.schedule),
            examined=options.examined,
        )
    _tell(verdict, trace=options.trace)
    return 1 if verdict.violations else 0


def _tell(verdict: Verdict, *, trace: bool) -> None:
    if trace:
        for actor, call, kind, path in verdict.points:
            print(f"{chr(ord('A') + actor)}{call:<4} {kind:<12} {path}")
    for outcome in verdict.outcomes:
        print(outcome)
    for words in verdict.violations:
        print(f"BROKEN {words}")
    print(f"{verdict.steps} calls, trace {verdict.digest[:16]}")


def _hunt(options: argparse.Namespace) -> int:
    hunted = []
    with simulation():
        for mutant in MUTANTS:
            hunted.append(hunt_often(mutant, options.hunts, options.seed))
            print(f"{mutant.name}: {hunted[-1].words}", flush=True)
    if options.page:
        put("scenarios", scenario_table())
        put("mutants", mutant_table(hunted))
    return 1 if any(len(one.found) < len(one.took) for one in hunted) else 0


def _audit(options: argparse.Namespace) -> int:
    tally = audit(options.resume, options.minutes, options.processes, options.seed)
    print(figures(tally))
    for command, words in sorted(tally.failures.items()):
        print(f"FAILED {words}\n       again: {command}")
    if options.page:
        put("figures", figures(tally))
    return 1 if tally.failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation")
    parser.add_argument("--scenario", choices=[one.name for one in SCENARIOS])
    parser.add_argument("--semantics", choices=sorted(SEMANTICS), default="local")
    parser.add_argument("--schedule", default="-", help="decisions such as A17:toB,B3:crash")
    parser.add_argument("--mutant", choices=[one.name for one in MUTANTS])
    parser.add_argument("--trace", action="store_true", help="print every storage call")
    parser.add_argument("--examined", action="store_true", help="ask the doctor at the end")
    parser.add_argument("--mutants", action="store_true", help="hunt every mutant")
    parser.add_argument("--hunts", type=int, default=5, help="hunts per mutant")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--resume", type=Path, default=Path("build/simulation"))
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--page", action="store_true", help="write the figures into the docs")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
