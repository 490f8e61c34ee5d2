"""Clean: remove leftovers in the checkpoint that no start reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from holdfast.errors import PlanError
from holdfast.remedy.drafting import backup_step, remove_step
from holdfast.remedy.facts import Facts
from holdfast.remedy.plan import Draft, Effects
from holdfast.wording import counted


def plan_clean(facts: Facts, options: Mapping[str, str]) -> Draft:
    """Return a plan that removes leftovers; raise PlanError (HF4611) where there are none."""
    del options
    leftovers = tuple(sorted(set(_leftovers(facts))))
    if not leftovers:
        raise PlanError("HF4611", "there are no leftovers in the checkpoint", at=facts.location)
    shown = f"remove {counted(len(leftovers), 'file')} that nothing reads"
    steps = (backup_step(facts), remove_step(facts, leftovers, shown))
    return Draft(steps, Effects(next_start="does what it would have done"))


def _leftovers(facts: Facts) -> Iterator[str]:
    """Yield temporary files of killed writers, and checksums whose files are gone.

    A checksum left over in a log makes Spark's next write of that file fail.
    """
    layout = facts.subject.picture.layout
    yield from layout.temporary
    yield from layout.orphan_checksums
