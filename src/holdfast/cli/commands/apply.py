"""`holdfast apply PLAN`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.drawing.progress import ByteProgress
from holdfast.cli.options import Output, output_options, place_options
from holdfast.errors import PlanError
from holdfast.remedy.results import StepProgress


@click.command("apply")
@click.argument("plan", metavar="PLAN")
@click.option(
    "--finish", is_flag=True, help="Finish the plan that was interrupted; PLAN is the TARGET."
)
@click.option(
    "--even-if-running",
    is_flag=True,
    help="Apply even if files changed recently; a lease held by another process still stops it.",
)
@click.option(
    "--yes", is_flag=True, help="Do not ask for confirmation; required without a terminal."
)
@place_options
@output_options
def command(plan: str, finish: bool, even_if_running: bool, yes: bool, **given: Any) -> int:
    """Apply a plan step by step, each step journalled before and after.

    No job may run on the checkpoint meanwhile. A plan is refused as stale if anything that it was
    made from has changed. After a kill, the same command finishes it; `holdfast undo` takes it
    back.
    """
    output = Output(given.pop("as_json"), given.pop("quiet"), given.pop("no_color"))
    silent = output.quiet or output.as_json
    with ByteProgress("applying", silent=silent) as progress:
        shared = {
            **given,
            "progress": progress.advance,
            "watch": None if silent else show_step,
            "waiting": None if silent else show_waiting,
            "starting": None if silent else show_line,
        }
        if finish:
            confirm = None if yes else partial(confirm_act, "Finish", plan)
            answer = library.finish_plan(plan, confirm=confirm, **shared)
        else:
            answer = library.apply(
                Path(plan),
                confirm=None if yes else confirm_plan,
                even_if_running=even_if_running,
                **shared,
            )
    return output.give(answer, page=pages.applied)


def refuse_unasked() -> None:
    """Raise HF4608 where nobody can be asked."""
    if not sys.stdin.isatty():
        message = "confirmation is not possible: standard input is not a terminal"
        raise PlanError("HF4608", message)


def confirm_plan(plan: Any) -> bool:
    """Show what is going to be done, and ask whether it may."""
    refuse_unasked()
    for step in plan.steps:
        undo = "" if step.reversible else " (cannot be undone)"
        click.echo(f"  {step.number}. {step.detail}{undo}", err=True)
    return click.confirm(f"Apply {plan.id} to {plan.target}?", err=True)


def confirm_act(verb: str, target: str, act: str) -> bool:
    """Ask whether an act may be finished or undone."""
    refuse_unasked()
    return click.confirm(f"{verb} {act} on {target}?", err=True)


def show_step(step: StepProgress) -> None:
    """Show that a step is done or undone, and of which plan: there may be one per job."""
    of = "" if step.job is None else f"{step.job}: "
    click.echo(f"{of}step {step.number} of {step.steps}: {step.detail}: {step.event}", err=True)


def show_line(line: str) -> None:
    """Show what takes long."""
    click.echo(line, err=True)


def show_waiting(holder: str) -> None:
    """Show who is waited for."""
    show_line(f"waiting up to 30 s to see whether {holder} is still alive")
