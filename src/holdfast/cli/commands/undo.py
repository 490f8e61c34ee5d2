"""`holdfast undo TARGET [ID]`."""

from __future__ import annotations

from typing import Any

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.commands.apply import refuse_unasked, show_step, show_waiting
from holdfast.cli.drawing.progress import ByteProgress
from holdfast.cli.options import Output, complete_target, output_options, place_options
from holdfast.errors import PlanError


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
    if not yes:
        refuse_unasked()
        meant = (
            "Give up the interrupted backfill" if keep_rows else f"Undo {act or 'the newest plan'}"
        )
        if not click.confirm(f"{meant} on {target}?", err=True):
            raise PlanError("HF4608", "not confirmed", at=target)
    with ByteProgress("undoing", silent=silent) as progress:
        answer = library.undo(
            target,
            act,
            keep_rows=keep_rows,
            progress=progress.advance,
            watch=None if silent else show_step,
            waiting=None if silent else show_waiting,
            **given,
        )
    return output.give(answer, page=pages.applied)
