"""`holdfast undo TARGET [ID]`."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.commands.apply import confirm_act, show_line, show_step, show_waiting
from holdfast.cli.drawing.progress import ByteProgress
from holdfast.cli.options import Output, complete_target, output_options, place_options


@click.command("undo")
@click.argument("target", shell_complete=complete_target)
@click.argument("act", required=False, metavar="[ID]")
@click.option(
    "--yes", is_flag=True, help="Do not ask for confirmation; required without a terminal."
)
@click.option(
    "--keep-rows",
    is_flag=True,
    help="Give up an interrupted backfill: what is in the sink stays, the rest is not computed.",
)
@place_options
@output_options
def command(target: str, act: str | None, yes: bool, keep_rows: bool, **given: Any) -> int:
    """Undo the newest plan applied to TARGET, or the act of this ID from `holdfast journal`.

    Also undoes a plan that was interrupted. Refused once the job has run again. A backfill that
    cannot be finished any more, and whose rows cannot be taken back, is closed with --keep-rows.
    """
    output = Output(given.pop("as_json"), given.pop("quiet"), given.pop("no_color"))
    silent = output.quiet or output.as_json
    verb = "Give up the interrupted" if keep_rows else "Undo"
    with ByteProgress("undoing", silent=silent) as progress:
        answer = library.undo(
            target,
            act,
            keep_rows=keep_rows,
            confirm=None if yes else partial(confirm_act, verb, target),
            progress=progress.advance,
            watch=None if silent else show_step,
            waiting=None if silent else show_waiting,
            starting=None if silent else show_line,
            **given,
        )
    return output.give(answer, page=pages.applied)
