"""`python -m tests.crashes`: kills, runs again and judges all cases, or those that are named."""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.crashes.auditing import audit
from tests.crashes.cases import OCCASIONS, Case, case_named, drawn_cases, every_case
from tests.crashes.controls import convict
from tests.crashes.reporting import report
from tests.crashes.running import Verdict
from tests.crashes.sessions import MASTER, spark_of_audit
from tests.parts import classarchive
from tests.spark.sinks.databases import running_databases

SEED = 20261116


def main() -> int:
    """Audit, write the report, and fail where something was lost, doubled or not reached."""
    options = _options()
    # Whoever stops it leaves no server behind.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    os.environ.setdefault(classarchive.VARIABLE, classarchive.lasting_java())
    begun = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="audit"))
    with running_databases(folder) as databases, spark_of_audit(folder):
        acquitted = [] if options.case else convict(folder, MASTER, _tell)
        verdicts = audit(
            _cases(options), options.seed, folder, databases.place, MASTER, _tell_verdict
        )
    text = report(verdicts, acquitted, options.seed, time.monotonic() - begun)
    options.report.parent.mkdir(parents=True, exist_ok=True)
    options.report.write_text(text, encoding="utf-8")
    failed = [one for one in verdicts if one.told]
    _tell(f"{len(verdicts)} cases, {sum(one.kills for one in verdicts)} kills, "
          f"{len(failed)} failed, {len(acquitted)} broken sinks not convicted")  # fmt: skip
    if failed:
        _tell(f"what they left is in {folder}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed or acquitted else 0


def _cases(options: argparse.Namespace) -> list[Case]:
    if options.case:
        return [case_named(name) for name in options.case]
    cases = drawn_cases(options.seed) if options.drawn else every_case(options.occasion)
    return [case for case in cases if options.only in case.name]


def _tell_verdict(verdict: Verdict) -> None:
    _tell(f"{'FAILED' if verdict.told else 'ok    '} {verdict.case.name}")
    for words in verdict.told:
        _tell(f"       {words}")
    if verdict.told:
        _tell(f"       again: {verdict.command}")


def _tell(words: str) -> None:
    print(words, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.crashes")
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--case", action="append", help="SINK/POINT/OCCASION; may be repeated")
    parser.add_argument("--drawn", action="store_true", help="the part that `make test` runs")
    parser.add_argument("--only", default="", help="cases with this in their name")
    parser.add_argument("--occasion", nargs="+", choices=OCCASIONS, default=list(OCCASIONS))
    parser.add_argument("--report", type=Path, default=Path("build/audit.md"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
