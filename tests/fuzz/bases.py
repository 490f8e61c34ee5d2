"""The healthy checkpoints that damage is derived from, each with the place where it was made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tests.corpus.loading import Sample, corpus

UNHEALTHY = {
    "repartition-refused": "a repartition that Spark refused half-way: its newest offsets entry "
    "pins a third partition that has no state",
}
"""Samples that real Spark left in a state that does not start; what is found in them is true."""


@dataclass(frozen=True)
class Base:
    """One real checkpoint."""

    name: str
    location: str
    files: dict[str, bytes]


@cache
def bases() -> tuple[Base, ...]:
    """Every healthy checkpoint of the corpus."""
    return tuple(base_of(one) for one in corpus() if one.name not in UNHEALTHY)


def base_of(one: Sample) -> Base:
    """Read a sample, with the folder in which Spark wrote it."""
    return Base(str(one), f"/tmp/holdfast-corpus/{one.name}/checkpoint", one.files())
