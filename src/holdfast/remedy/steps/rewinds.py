"""Steps on the records: what earlier runs delivered, and kept of offsets, no longer counts."""

from __future__ import annotations

from typing import ClassVar

from holdfast.records.moments import moment_now
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.records.rewinds import Rewind, Rewinds
from holdfast.remedy.plan import Step
from holdfast.remedy.steps.work import Result, Work


class NoteRewind:
    """Notes next to the checkpoint which batches were taken back, so that a start knows it."""

    name: ClassVar[str] = "note-rewind"

    def apply(self, step: Step, work: Work) -> Result:
        """Write the record, or leave the one that this act wrote before it was killed."""
        rewinds = Rewinds(work.records.folder)
        known = [one.generation for one in rewinds.all() if one.act == work.act_id]
        if known:
            return {"generation": known[0]}
        through = step.arguments.get("through")
        rewind = Rewind(
            generation=work.generation,
            act=work.act_id,
            remedy=work.plan.remedy.value,
            query_id=step.arguments.get("query_id"),
            through=None if through is None else int(through),
            at=moment_now(),
            every_query=step.arguments.get("every_query") == "true",
            removed=_removed(work, through),
        )
        rewinds.write(rewind)
        return {"generation": work.generation}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Remove the record, also where the step was only begun."""
        for rewind in Rewinds(work.records.folder).all():
            if rewind.act == work.act_id:
                Rewinds(work.records.folder).remove(rewind.generation)


class SetCopiesAside:
    """Sets aside what was kept of the offsets of batches that are taken back."""

    name: ClassVar[str] = "set-copies-aside"

    def apply(self, step: Step, work: Work) -> Result:
        """Set aside the copies of every batch from one on; they stay in the records."""
        copies = OffsetCopies(work.records.folder)
        query_id, batch = step.arguments["query_id"], int(step.arguments["from"])
        return {"batches": list(copies.set_aside(query_id, batch, work.act_id))}

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Put every copy back."""
        OffsetCopies(work.records.folder).take_back(step.arguments["query_id"], work.act_id)


def _removed(work: Work, through: str | None) -> dict[str, str]:
    """Return the digests of the offsets entries that the plan removes, from its backup."""
    if work.result_of("backup-checkpoint") is None:
        return {}
    files = work.backup().checkpoint.by_path
    ids = {path: path.removeprefix("offsets/") for path in files if path.startswith("offsets/")}
    first = -1 if through is None else int(through)
    return {
        path: files[path].sha256
        for path, number in ids.items()
        if number.isdecimal() and int(number) > first
    }
