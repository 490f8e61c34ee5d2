"""Runs many cases side by side and collects what they teach."""

from __future__ import annotations

import multiprocessing
import resource
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial

from tests.fuzz.bases import bases
from tests.fuzz.expecting import Effect
from tests.fuzz.judging import Judgement, judge, look
from tests.fuzz.kinds import without_hadoop_sides

_CHUNK = 50


@dataclass
class Tally:
    """Every judgement of a run, and what the healthy checkpoints were told."""

    seed: int
    judgements: list[Judgement] = field(default_factory=list)
    false_findings: list[str] = field(default_factory=list)
    peak_bytes: int = 0

    @property
    def failures(self) -> list[Judgement]:
        """Cases that ended in anything but an answer."""
        return [one for one in self.judgements if one.failures]

    @property
    def read(self) -> list[Judgement]:
        """Cases that change something that Spark reads."""
        return [one for one in self.judgements if one.effect not in (Effect.SAME, Effect.UNREAD)]

    @property
    def shown(self) -> list[Judgement]:
        """Those of them that something shows, with checksums beside the files."""
        return [one for one in self.read if one.detectable]

    @property
    def broken(self) -> list[Judgement]:
        """Those that break a grammar or a rule, which shows without checksums too."""
        return [one for one in self.read if one.effect is not Effect.SILENT]

    @property
    def missed(self) -> list[Judgement]:
        """Damage with checksums beside it that was not located."""
        return [one for one in self.shown if not one.located]

    @property
    def missed_bare(self) -> list[Judgement]:
        """Broken grammar or rules that were not located without checksums."""
        return [one for one in self.broken if not one.located_bare]


def run(seed: int, count: int, processes: int = 1) -> Tally:
    """Judge the cases 0 … count - 1 of a seed, and every healthy checkpoint."""
    tally = Tally(seed)
    tally.judgements.extend(_judgements(seed, count, processes))
    tally.false_findings.extend(false_findings())
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    children = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    tally.peak_bytes = max(own, children) * 1024
    return tally


def _judgements(seed: int, count: int, processes: int) -> Iterator[Judgement]:
    work = partial(judge, seed)
    if processes == 1:
        yield from map(work, range(count))
        return
    with multiprocessing.get_context("spawn").Pool(processes) as pool:
        yield from pool.imap(work, range(count), chunksize=_CHUNK)
        pool.close()
        pool.join()


def false_findings() -> list[str]:
    """Name every finding of warning or worse on a healthy checkpoint: there must be none."""
    found: list[str] = []
    for base in bases():
        for files in (base.files, without_hadoop_sides(base.files)):
            seen = look(files, base.location)
            found += [f"{base.name}: {place}" for place in sorted(seen.places or {"refused"})]
            found += [f"{base.name}: {seen.failure}"] if seen.failure else []
    return [one for one in found if not one.endswith(": refused")]
