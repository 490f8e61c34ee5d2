"""What a repair is: which findings it answers, and the fixes that it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from holdfast.backup.snapshot import Snapshot
from holdfast.checkpoint.picture import Picture
from holdfast.errors import PlanError
from holdfast.findings import Finding
from holdfast.ledgers.sinkstate import LastCommitted, SinkAnswer
from holdfast.remedy.facts import Facts
from holdfast.remedy.preview import Preview

DAMAGED_ENTRY = frozenset(
    (*(f"HF21{number:02d}" for number in range(1, 12)), "HF2116", "HF2117", "HF2237")
)
"""Findings about the bytes of one entry."""


@dataclass(frozen=True)
class Fix:
    """Changes of a few files that belong together."""

    detail: str
    """What is done, in one sentence."""
    writes: Mapping[str, bytes] = field(default_factory=dict)
    removes: tuple[str, ...] = ()
    from_backup: str | None = None
    """The backup that `writes` were read from; the plan names it instead of their bytes."""
    replans: bool = False
    """Whether the next start may plan a batch id that was planned before."""

    @property
    def paths(self) -> frozenset[str]:
        """Every file that it changes."""
        return frozenset((*self.writes, *self.removes))


@dataclass(frozen=True)
class Damaged:
    """A checkpoint that is being repaired, with the fixes that were found so far."""

    facts: Facts
    """What is known of it before any fix."""
    reader: Preview
    picture: Picture
    """The checkpoint as it is after the fixes that were found so far."""
    findings: tuple[Finding, ...]
    """What is wrong with it then."""
    snapshots: tuple[Snapshot, ...] = ()
    """Its backups that can be read, the newest first."""

    def of(self, codes: frozenset[str], folder: str = "") -> tuple[Finding, ...]:
        """Return the findings of these codes about files of the checkpoint below a folder."""
        return tuple(
            one
            for one in self.findings
            if one.code in codes and one.place.root is None and one.place.file.startswith(folder)
        )


@dataclass(frozen=True)
class Repair:
    """One kind of repair."""

    name: str
    codes: frozenset[str]
    """The findings that it answers."""
    fixes: Callable[[Damaged], Iterator[Fix]]
    """Yields fixes; raises PlanError where there is damage and its repair is refused."""


_ASK = (
    "pass --sink PATH, or the name of the job, so that the sink is asked",
    "holdfast doctor TARGET shows what is wrong and which remedy fits",
)
_SKIPPING = frozenset(("delta", "postgres", "jdbc", "parquet", "csv", "json", "orc", "files"))
"""Sinks that skip a batch which they have with the same offsets."""
_SKIPPING_OF_SPARK = frozenset(("delta", "parquet", "csv", "json", "orc"))


def skips_known_batches(facts: Facts) -> bool:
    """Whether the sink takes a batch once, however often it is delivered."""
    if facts.job is not None:
        sink = facts.job.sink
        return sink.format in (_SKIPPING_OF_SPARK if sink.native else _SKIPPING)
    return facts.subject.sink is not None and facts.subject.sink.kind in _SKIPPING


def require_known(facts: Facts, held: LastCommitted, doing: str) -> None:
    """Raise PlanError (HF4603) where nobody knows what the sink holds."""
    if held.answer is SinkAnswer.UNKNOWN:
        message = f"{doing}; what the sink holds of this query is unknown: {held.basis}"
        raise PlanError("HF4603", message, at=facts.location, next_steps=_ASK)


def require_rerun(facts: Facts, batch: int) -> None:
    """Raise PlanError where running a batch again could bring its rows to the sink twice."""
    held = facts.held
    require_known(facts, held, f"batch {batch} would run again")
    if held.value is not None and held.value >= batch and not skips_known_batches(facts):
        message = f"batch {batch} would run again; the sink has it, and does not skip it"
        raise PlanError("HF4601", message, at=facts.location)


def require_older(facts: Facts, batch: int) -> None:
    """Raise PlanError unless the sink is known to hold older batches of the query alone."""
    held = facts.held
    require_known(facts, held, f"batch {batch} would be planned again")
    known_nothing = held.value is None and batch > 0
    if held.closed or known_nothing or (held.value is not None and held.value >= batch):
        shown = "no batch of this query" if held.value is None else f"batch {held.value}"
        message = f"batch {batch} would be planned again; the sink has {shown} ({held.basis})"
        raise PlanError("HF4601", message, at=facts.location)
