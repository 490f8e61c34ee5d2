"""Runs cases: kills side by side in processes of their own, ends them one by one in one Spark."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from tests.crashes.cases import Case
from tests.crashes.killing import Killed, MakePlace, kill
from tests.crashes.running import Verdict, finish

Killing = dict[str, "Future[Killed]"]

SIDE_BY_SIDE = 2


@contextmanager
def killing(
    cases: Sequence[Case], seed: int, folder: Path, place: MakePlace, master: str
) -> Iterator[Killing]:
    """Begin to kill all cases, in their order; give what each will have left behind."""
    numbers = itertools.count()
    with ThreadPoolExecutor(SIDE_BY_SIDE) as pool:
        try:
            yield {
                case.name: pool.submit(
                    kill, case, seed, folder / f"case{next(numbers)}", place, master
                )
                for case in cases
            }
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def audit(
    cases: Sequence[Case],
    seed: int,
    folder: Path,
    place: MakePlace,
    master: str,
    tell: Callable[[Verdict], None],
) -> list[Verdict]:
    """Run all cases, tell of each one as it ends, and keep the folders of those that failed."""
    verdicts = []
    with killing(cases, seed, folder, place, master) as begun:
        for case in cases:
            killed = begun[case.name].result()
            verdict = finish(killed)
            verdicts.append(verdict)
            tell(verdict)
            if not verdict.told:
                shutil.rmtree(killed.project.place.folder)
    return verdicts
