"""`holdfast plan REMEDY TARGET`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.options import Output, complete_target, output_options, place_options

Function = TypeVar("Function", bound=Callable[..., Any])


@click.group("plan")
def command() -> None:
    """Plan a remedy and show what it would do. Nothing is changed.

    Save the plan with -o PLAN.json, then apply it with `holdfast apply PLAN.json`.
    """


def _plan_options(function: Function) -> Function:
    """Add what every remedy takes."""
    output = click.option(
        "-o",
        "--output",
        type=click.Path(path_type=Path),
        metavar="PLAN.json",
        help="Write the plan to this file.",
    )
    target = click.argument("target", shell_complete=complete_target)
    return target(output(place_options(output_options(function))))


_sink_option = click.option(
    "--sink",
    metavar="PATH",
    help="Output to ask for its newest batch (default: the sink of the job).",
)


def _answer(remedy: str, target: str, given: dict[str, Any], **options: Any) -> int:
    shown = Output(given.pop("as_json"), given.pop("quiet"), given.pop("no_color"))
    answer = library.plan(target, remedy, options, **given)
    return shown.give(answer, page=pages.plan)


@command.command("resume")
@_plan_options
def resume(target: str, **given: Any) -> int:
    """Continue from where the checkpoint is, if checkpoint, sink and sources are fit for it."""
    return _answer("resume", target, given)


@command.command("repair")
@_plan_options
@click.option("--finding", metavar="HFnnnn", help="Repair only this finding (default: all).")
@_sink_option
def repair(target: str, finding: str | None, sink: str | None, **given: Any) -> int:
    """Repair what the doctor finds and a proven repair exists for.

    Batches are only run again with their recorded offsets, never planned again.
    """
    return _answer("repair", target, given, finding=finding, sink=sink)


@command.command("clean")
@_plan_options
def clean(target: str, **given: Any) -> int:
    """Remove leftovers of killed writers that no start reads."""
    return _answer("clean", target, given)
