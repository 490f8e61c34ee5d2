"""Says which finished act put a checkpoint right after its last run: how that run ended is past."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.records.journal import RESTORE, JournalledAct, act_ids, journalled_act
from holdfast.storage.reading import Reader

_REMEDIES = frozenset({RESTORE, "repair", "replay", "reset"})
_DONE = frozenset({"restored", "finished", "applied"})
_NOTHING = frozenset({"void", "unchanged", "taken-back"})
"""Outcomes of an act after which everything is as before it."""


@dataclass(frozen=True)
class SettledAct:
    """A restore, or a plan that was applied, and what it left."""

    id: str
    kind: str
    """`restore`, or the remedy of the plan."""
    backup: str | None
    """The backup that was restored; None for a plan."""
    ended_at: str

    @property
    def words(self) -> str:
        """What was done, for people."""
        if self.backup is not None:
            return f"restored from backup {self.backup} at {self.ended_at}"
        return f"{self.kind} {self.id} was applied at {self.ended_at}"


def settled_since(journal: Reader, generation: int) -> SettledAct | None:
    """Return the newest remedy that was finished under a later lease than this one.

    None where an act since is open or was undone, or is of an older release, which kept no lease.
    """
    for act_id in reversed(act_ids(journal)):
        one = journalled_act(journal, act_id)
        if one.act.generation is None or one.act.generation <= generation:
            return None
        if one.act.kind not in _REMEDIES | {"undo"} or one.outcome in _NOTHING:
            continue
        return _settled(one)
    return None


def _settled(one: JournalledAct) -> SettledAct | None:
    if one.outcome not in _DONE or one.ended_at is None:
        return None
    backup = str(one.act.intent.get("backup")) if one.act.kind == RESTORE else None
    return SettledAct(one.act.id, one.act.kind, backup, one.ended_at)
