"""What a step is done with, and what every kind of step promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from holdfast.backup.access import Records
from holdfast.backup.snapshot import Snapshot
from holdfast.checkpoint.verification import Progress
from holdfast.errors import NotFoundError, PlanError
from holdfast.records.leases.acting import ConfirmingWriter
from holdfast.remedy.elsewhere import Elsewhere, OpenElsewhere
from holdfast.remedy.plan import Plan, Step
from holdfast.remedy.sourcedata import UNSEEN, SourceNow
from holdfast.running.bounded import BoundedBatches
from holdfast.storage.writing import Writer

if TYPE_CHECKING:
    from holdfast.spark.sinks.sink import HeldSink

Result = Mapping[str, Any]
GIVEN_UP_AFTER = "given_up_after"
"""In the result of a step that was given up: its newest batch in the sink, null for none."""


class OpenSink(Protocol):
    """Opens the sink of the plan's job; most sinks need Spark for it."""

    def __call__(
        self, planned: Mapping[str, str] | None = None, /
    ) -> AbstractContextManager[HeldSink]:
        """Open it; raise PlanError (HF4647, HF4648) where `planned` is about another output."""


def no_other_place(_text: str) -> Elsewhere:
    """Open no place, where nothing is moved."""
    raise PlanError("HF4607", "the plan moves a checkpoint, and no other place can be opened")


RunBounded = Callable[[BoundedBatches], int]
"""Lets Spark run batches next to the running stream, and returns how many rows were written."""


def nothing_beside(_batches: BoundedBatches) -> int:
    """Run no batch, where nothing is computed again."""
    raise PlanError("HF4607", "the plan runs batches, and no Spark can be opened for them")


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
    part: Callable[[str], OtherJob] | None = None
    """Opens another job of the project, for plans that contain a plan of it."""
    open_elsewhere: OpenElsewhere = no_other_place
    """Opens the place that a checkpoint is moved to."""
    confirm: Callable[[], None] = lambda: None
    """Raises once the lease is lost."""
    run_bounded: RunBounded = nothing_beside
    """Lets Spark run the batches of a backfill."""
    source: SourceNow = UNSEEN
    """Looks at the source that a backfill reads."""

    def result_of(self, act: str) -> Result | None:
        """Return what the newest done step of a kind left; None where none is done."""
        numbers = [one.number for one in self.plan.steps if one.act == act]
        done = [self.results[number] for number in numbers if number in self.results]
        return done[-1] if done else None

    def confirmed(self, writer: Writer) -> Writer:
        """Return a writer that changes nothing once the lease is lost."""
        return ConfirmingWriter(writer, self.confirm)

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


class OtherJob(Protocol):
    """The plan of another job that a plan contains: applied and undone in that job's journal."""

    def apply(self, plan: Plan, confirm: Callable[[], None]) -> None:
        """Apply every step under the other job's lease, and leave the act open.

        `confirm` raises once the lease of the whole act is lost: nothing is changed then.
        """

    def end(self, plan: Plan, confirm: Callable[[], None]) -> None:
        """Close the act: from here on the other job can start."""

    def lasting(self, plan: Plan) -> PlanError | None:
        """Return why the act can no longer be undone; None where it can."""

    def undo(self, plan: Plan, confirm: Callable[[], None]) -> None:
        """Take every step back; an act that was never begun is left alone."""


class StepKind(Protocol):
    """One kind of step. Both acts may be repeated after a kill at any moment, and do the same."""

    name: ClassVar[str]

    def apply(self, step: Step, work: Work) -> Result:
        """Do the step; return what later steps and `undo` need to know."""

    def undo(self, step: Step, result: Result | None, work: Work) -> None:
        """Bring back what was there. `result` is None where the step was begun and not done."""


@runtime_checkable
class GivenUpKind(Protocol):
    """A kind of step that can be left where it is: what it did stays, and nothing follows."""

    def give_up(self, step: Step, work: Work) -> Result:
        """Let nobody continue it any more; return how far it came."""


@runtime_checkable
class LastingKind(Protocol):
    """A kind of step that may have done what nothing brings back."""

    def lasting(self, step: Step, result: Result | None, work: Work) -> PlanError | None:
        """Return why a step that has begun cannot be undone; None where it can. Writes nothing."""
