"""The step that sets kept copies of offsets aside, so that their batches can be planned again."""

from __future__ import annotations

from typing import ClassVar

from holdfast.records.offsetcopies import OffsetCopies
from holdfast.remedy.plan import Step
from holdfast.remedy.steps.work import Result, Work


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
