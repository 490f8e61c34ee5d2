"""A figure, the subject that it belongs to, and what subjects share while they are measured."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from benchmarks.checkpoint import build_checkpoint
from tests.corpus.loading import sample

BATCHES, PARTITIONS = 10_000, 200
HOLDFAST = (str(Path(sys.executable).with_name("holdfast")),)


@dataclass(frozen=True)
class Figure:
    """One promise and what was measured."""

    what: str
    measured: str
    promised: str
    kept: bool


@dataclass(frozen=True)
class Workshop:
    """A folder to work in, and the checkpoints that several subjects measure with."""

    folder: Path

    @cached_property
    def large(self) -> Path:
        """A long history in many partitions."""
        say(f"building a checkpoint of {BATCHES:,} batches and {PARTITIONS} partitions")
        return build_checkpoint(self.folder / "large", batches=BATCHES, partitions=PARTITIONS)

    @cached_property
    def ordinary(self) -> Path:
        """What most checkpoints are like."""
        return sample("aggregation-hdfs-lz4", "4.2.1").extract(self.folder / "ordinary")


@dataclass(frozen=True)
class Subject:
    """Figures that are measured together: one module each."""

    title: str
    how: str
    """What was measured and how, for the page."""
    measure: Callable[[Workshop], list[Figure]]


def say(text: str) -> None:
    """Tell whoever waits what is done now."""
    sys.stderr.write(f"… {text}\n")
