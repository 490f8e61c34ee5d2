"""`python -m tests.fuzz`: judges many damaged checkpoints, or shows one of them."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.fuzz.reporting import report
from tests.fuzz.running import Tally, run
from tests.fuzz.showing import show

SEED = 20261116
LEAST_LOCATED = 0.99


def main() -> int:
    """Run, write the report, and fail where something judged does not hold."""
    options = _options()
    if options.case is not None:
        print(show(options.seed, options.case))
        return 0
    tally = run(options.seed, options.count, options.processes)
    text = report(tally)
    if options.report is None:
        print(text)
    else:
        options.report.parent.mkdir(parents=True, exist_ok=True)
        options.report.write_text(text, encoding="utf-8")
        print(text.partition("## By operator")[0])
    broken = broken_promises(tally)
    print("\n".join(broken) or "every promise holds")
    return 1 if broken else 0


def broken_promises(tally: Tally) -> list[str]:
    """Name what does not hold."""
    located = 1 - len(tally.missed) / max(len(tally.shown), 1)
    of_all = sum(one.located for one in tally.read) / max(len(tally.read), 1)
    judged = (
        (not tally.failures, f"cases failed: {[one.number for one in tally.failures[:10]]}"),
        (located >= LEAST_LOCATED, f"only {located:.2%} of what checksums show was located"),
        (of_all >= LEAST_LOCATED, f"only {of_all:.2%} of what Spark reads was located"),
        (not tally.missed_bare, f"not located: {[one.number for one in tally.missed_bare[:10]]}"),
        (not tally.false_findings, f"healthy, but found: {tally.false_findings[:10]}"),
    )
    return [reason for holds, reason in judged if not holds]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--report", type=Path)
    parser.add_argument("--case", type=int, help="show this one case only")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
