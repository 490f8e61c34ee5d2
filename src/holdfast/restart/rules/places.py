"""The places that a start writes to."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.diagnosis.checks.location import on_own_disks
from holdfast.findings import Finding
from holdfast.restart.rules.rule import on_checkpoint
from holdfast.restart.start import StartFacts


@on_checkpoint("HF3028")
def local_places(start: StartFacts) -> Iterator[Finding]:
    """Refuse local places on a cluster, whose machines would each write to their own disks."""
    yield from on_own_disks(start.master, start.places, bool(start.plan.operators))


@on_checkpoint("HF2302")
def lasting_place(start: StartFacts) -> Iterator[Finding]:
    """Warn of a checkpoint in a temporary directory, unless its whole project is there."""
    yield from start.emptied
