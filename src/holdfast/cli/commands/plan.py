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


@click.group("plan", invoke_without_command=True, no_args_is_help=False)
@click.pass_context
def command(context: click.Context) -> None:
    """Plan a remedy and show what it would do. Nothing is changed.

    Save the plan with -o PLAN.json, then apply it with `holdfast apply PLAN.json`.
    """
    if context.invoked_subcommand is None:
        names = ", ".join(sorted(command.commands))
        raise click.UsageError(f"Missing remedy. Choose from: {names}.", context)


def _plan_options(function: Function) -> Function:
    """Add what every remedy takes."""
    return _options_with(function, "-o", "--output")


def _options_with(function: Function, *names: str) -> Function:
    """Add what every remedy takes, with these names for the file of the plan."""
    output = click.option(
        *names,
        "output",
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


@command.command("move")
@_plan_options
@click.option("--to", metavar="URL", required=True, help="Where to: a path or URL, empty yet.")
def move(target: str, to: str, **given: Any) -> int:
    """Move a checkpoint with its records to another directory or storage.

    The old place stays, closed: no Spark starts on it any more.
    """
    return _answer("move", target, given, to=to)


@command.command("replay")
@click.option(
    "--from-batch", type=int, metavar="B", help="Process batch B and all later ones again."
)
@click.option(
    "--from-offset",
    metavar="JSON",
    help='Begin with the batch that held this source offset, such as \'{"topic": {"0": 1200}}\'.',
)
@click.option("--from-file", metavar="PATH", help="Begin with the batch that read this file.")
@click.option(
    "--from-time",
    metavar="T",
    help="Begin with the first batch that was planned at this time or later (RFC 3339).",
)
@click.option("--force-protected", is_flag=True, help="Plan it although the job has protect: true.")
@_plan_options
def replay(
    target: str,
    from_batch: int | None,
    from_offset: str | None,
    from_file: str | None,
    from_time: str | None,
    force_protected: bool,
    **given: Any,
) -> int:
    """Process again from a batch on; its sink gives back the batches first."""
    return _answer(
        "replay",
        target,
        given,
        from_batch=from_batch,
        from_offset=from_offset,
        from_file=from_file,
        from_time=from_time,
        force_protected=force_protected,
    )


@command.command("backfill")
@click.option(
    "--from",
    "first",
    metavar="FROM",
    required=True,
    help="Where the range begins: a file's name, a version of a Delta table, Kafka offsets such as "
    '\'{"topic": {"0": 1200}}\', or a time such as 2026-01-01T00:00Z.',
)
@click.option(
    "--to",
    "last",
    metavar="TO",
    required=True,
    help="Where it ends. A file, a version or their time is included; a Kafka offset or time is "
    "not.",
)
@click.option("--batches", type=int, metavar="N", help="Cut the range into N batches (default: 1).")
@click.option(
    "--overwrite",
    is_flag=True,
    help="Replace rows in the sink whatever its order_by says, also newer ones.",
)
@_plan_options
def backfill(
    target: str, first: str, last: str, batches: int | None, overwrite: bool, **given: Any
) -> int:
    """Compute a bounded range again, into the same sink, next to the running stream.

    TARGET is the name of a job that upserts into Delta or PostgreSQL. Its checkpoint and its lease
    are not touched; the job may run meanwhile.
    """
    options = {"from": first, "to": last, "batches": batches, "overwrite": overwrite}
    return _answer("backfill", target, given, **options)


@command.command("clean")
@_plan_options
def clean(target: str, **given: Any) -> int:
    """Remove leftovers of killed writers that no start reads."""
    return _answer("clean", target, given)


@command.command("reset")
@click.option(
    "--output",
    "sink_output",
    required=True,
    metavar="clear|keep-new:PATH|none",
    help="What becomes of the output: clear it, keep it and write to a new PATH (or table), or "
    "none, because it is empty.",
)
@click.option(
    "--starting-offsets",
    metavar="earliest|latest|JSON",
    help="Where the new query begins to read (default: as declared).",
)
@click.option("--cascade", is_flag=True, help="Also reset the jobs that read the output.")
@click.option(
    "--clear-query",
    multiple=True,
    metavar="QUERY_ID",
    help="Also clear batches of this query, which another checkpoint had; repeat it for several.",
)
@click.option(
    "--force-protected", is_flag=True, help="Plan it although the job has `protect: true`."
)
@lambda function: _options_with(function, "-o")
def reset(
    target: str,
    sink_output: str,
    starting_offsets: str | None,
    cascade: bool,
    clear_query: tuple[str, ...],
    force_protected: bool,
    **given: Any,
) -> int:
    """Start over with a new query: archive the checkpoint, after its output is cleared.

    TARGET is the name of a job. The plan says what happens to the jobs that read the output.
    """
    return _answer(
        "reset",
        target,
        given,
        starting_offsets=starting_offsets,
        cascade=cascade,
        clear_query=",".join(clear_query) or None,
        force_protected=force_protected,
        output=sink_output,
    )


@command.command("retire")
@_plan_options
def retire(target: str, **given: Any) -> int:
    """Archive the checkpoint of a job that is over, so that nothing starts on it.

    TARGET is the name of a job. `holdfast undo` brings it back.
    """
    return _answer("retire", target, given)
