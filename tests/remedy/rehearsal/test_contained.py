"""A plan that is made again for copies writes nowhere else, and has the steps of the stored one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.errors import PlanError
from holdfast.remedy.plan import Draft, Effects, Plan, Remedy, Request, Step, plan_of
from holdfast.remedy.rehearsal.contained import (
    new_output,
    plan_on_copies,
    refuse_reaching_out,
    request_on_copies,
)

HERE = Path("/workspace/elsewhere")


def plan_with(*acts: str, at: str = "/orders", arguments: Mapping[str, str] | None = None) -> Plan:
    """Give a plan with steps of these kinds."""
    steps = tuple(Step(0, act, at, act, True, arguments or {}) for act in acts)
    return plan_of(Draft(steps, Effects()), Request(Remedy.MOVE, at), at, None, {})


def test_options_that_name_places_name_places_in_the_workspace() -> None:
    """A move, and a reset to a new output; everything else is asked for as it was."""
    move = request_on_copies(Request(Remedy.MOVE, "job", {"to": "s3://lake/there"}), HERE, "job")
    assert move.options == {"to": f"{HERE}/job"}
    reset = Request(Remedy.RESET, "job", {"output": "keep-new:/lake/new", "cascade": "true"})
    copied = request_on_copies(reset, HERE, "job")
    assert new_output(copied) == f"{HERE}/job"
    assert copied.options["cascade"] == "true"
    replay = Request(Remedy.REPLAY, "job", {"from_batch": "1"})
    assert request_on_copies(replay, HERE, "job") == replay
    assert new_output(Request(Remedy.RESET, "job", {"output": "clear"})) is None


def test_other_steps_than_those_of_the_plan_are_not_tried() -> None:
    """By kind, and by the batches that they are about."""
    for made in (
        plan_with("block-start"),
        plan_with("block-start", "allow-start", arguments={"through": "4"}),
    ):
        with pytest.raises(PlanError) as caught:
            plan_on_copies(
                plan_with("block-start", "allow-start"), made, project=HERE, with_sink=True
            )
        assert caught.value.code == "HF4660"


def test_the_list_of_places_that_is_changed_is_one_in_the_workspace() -> None:
    """And the plan is named by its content again, so that the journal understands it."""
    plan = plan_with("remember-place", arguments={"folder": "/project", "job": "job"})
    tried = plan_on_copies(plan, plan, project=HERE, with_sink=True)
    assert tried.steps[0].arguments == {"folder": str(HERE), "job": "job"}
    assert tried.id != plan.id


def test_a_backfill_is_not_tried() -> None:
    """Its query runs beside the job, into the real sink."""
    plan = plan_of(Draft((), Effects()), Request(Remedy.BACKFILL, "job"), "/orders", "job", {})
    with pytest.raises(PlanError) as caught:
        refuse_reaching_out(plan)
    assert caught.value.code == "HF4660"


@pytest.mark.parametrize(("path", "refused"), [(None, True), ("./out", False)])
def test_a_new_table_of_a_database_is_not_tried(path: str | None, refused: bool) -> None:
    """A new directory lies in the workspace; a new table would lie next to the real ones."""
    job: Any = SimpleNamespace(sink=SimpleNamespace(path=path))
    request = Request(Remedy.RESET, "job", {"output": "keep-new:elsewhere"})
    plan = plan_of(Draft((), Effects()), request, "/orders", "job", {})
    if not refused:
        refuse_reaching_out(plan, job)
        return
    with pytest.raises(PlanError) as caught:
        refuse_reaching_out(plan, job)
    assert caught.value.code == "HF4660"


def test_without_a_scratch_sink_no_step_is_done_on_a_sink() -> None:
    """The numbers of the others follow each other."""
    plan = plan_with("backup-checkpoint", "mark-sink", "clear-sink", "fence-sink", "rewind-sink",
                     "note-rewind")  # fmt: skip
    tried = plan_on_copies(plan, plan, project=HERE, with_sink=False)
    assert [(one.number, one.act) for one in tried.steps] == [
        (1, "backup-checkpoint"), (2, "note-rewind"),
    ]  # fmt: skip
