"""What a step is done with, and what every kind of step promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from holdfast.backup.access import Records
from holdfast.backup.snapshot import Snapshot
from holdfast.checkpoint.verification import Progress
from holdfast.errors import NotFoundError, PlanError
from holdfast.remedy.plan import Plan, Step

if TYPE_CHECKING:
    from holdfast.spark.sinks.sink import JobSink

Result = Mapping[str, Any]
OpenSink = Callable[[], "AbstractContextManager[JobSink]"]
"""Opens the sink of the plan's job; most sinks need Spark for it."""


@dataclass(frozen=True)
class Work:
    """What a step may use. Every writer changes nothing once the lease is lost."""

    plan: Plan
    act_id: str
    generation: int
    records: Records
    """The checkpoint with its records, under the lease."""
    results: Mapping[int, Result]
    """What the steps that are done left, by their numbers."""
    open_sink: OpenSink
    progress: Progress | None = None

    def result_of(self, act: str) -> Result | None:
        """Return what the newest done step of a kind left; None where none is done."""
        numbers = [one.number for one in self.plan.steps if one.act == act]
        done = [self.results[number] for number in numbers if number in self.results]
        return done[-1] if done else None

    def backup(self) -> Snapshot:
        """Return the backup that was made before anything was changed."""
        made = self.result_of("backup-checkpoint")
        if made is None:
            raise PlanError("HF4607", "the plan changes files before it backs them up")
        try:
            return self.records.store.snapshot(str(made["backup"]))
        except NotFoundError as error:
            message = f"its backup {made['backup']} was removed"
            raise PlanError("HF4609", message, at=self.records.store.location) from error


class StepKind(Protocol):
    """One kind of step. Both acts may be repeated after a kill at any moment, and do the same."""

    name: ClassVar[str]

    def apply(self, step: Step, work: Work) -> Result:
        """Do the step; return what later steps and `undo` need to know."""

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Bring back what was there. `result` is None where the step was begun and not done."""
