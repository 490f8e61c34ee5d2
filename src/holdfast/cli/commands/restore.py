"""`holdfast restore BACKUP`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.drawing.progress import ByteProgress
from holdfast.cli.options import Output, complete_backup, output_options, place_options
from holdfast.errors import UsageError


@click.command("restore")
@click.argument("backup", shell_complete=complete_backup)
@click.option("--to", metavar="LOCATION", help="Restore to this path instead.")
@click.option(
    "--sink-log-to",
    metavar="PATH",
    help="Write only the sink's log to this empty path; the sink itself is never changed.",
)
@click.option(
    "--file",
    "files",
    multiple=True,
    metavar="PATH",
    help="Restore only this file, by its path in the checkpoint (or in the sink); may be repeated.",
)
@click.option(
    "--even-if-running",
    is_flag=True,
    help=(
        "Write even if files changed recently; a lease held by another process still stops the "
        "restore."
    ),
)
@click.option("--finish", is_flag=True, help="Finish an interrupted restore; BACKUP is the TARGET.")
@click.option("--undo", is_flag=True, help="Undo an interrupted restore; BACKUP is the TARGET.")
@click.option(
    "--yes", is_flag=True, help="Do not ask for confirmation; required without a terminal."
)
@place_options
@output_options
def command(
    backup: str,
    to: str | None,
    sink_log_to: str | None,
    files: tuple[str, ...],
    even_if_running: bool,
    finish: bool,
    undo: bool,
    yes: bool,
    project: Path | None,
    profile: str | None,
    storage_options: tuple[str, ...],
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Restore a backup, byte for byte: the whole checkpoint, or single files.

    BACKUP is TARGET@ID or TARGET@newest. No job may run on the checkpoint during a restore: the
    restore takes the lease, or fails. The current files are backed up first. A restore after which
    Spark would plan a known batch again is refused. With --sink-log-to, only the log of the sink is
    written, for reading. The next command on the target reports an interrupted restore; finish it
    with --finish or undo it with --undo.
    """
    settling = finish or undo
    if settling and (finish == undo or to or sink_log_to or files):
        raise click.UsageError("--finish and --undo cannot be combined with other options")
    if sink_log_to and (to or even_if_running):
        raise click.UsageError(
            "--sink-log-to does not restore the checkpoint; it cannot be combined with --to or "
            "--even-if-running"
        )
    waiting = None if quiet or as_json else _wait
    with ByteProgress("restoring", silent=quiet or as_json) as progress:
        if settling:
            answer = library.settle_restore(
                backup,
                finish=finish,
                confirm=None if yes else _ask,
                project=project,
                profile=profile,
                storage_options=storage_options,
                progress=progress.advance,
                waiting=waiting,
            )
        else:
            answer = library.restore(
                backup,
                to=to,
                sink_log_to=sink_log_to,
                files=files,
                even_if_running=even_if_running,
                confirm=None if yes else _ask,
                project=project,
                profile=profile,
                storage_options=storage_options,
                progress=progress.advance,
                waiting=waiting,
            )
    return Output(as_json, quiet, no_color).give(answer, page=pages.restoration)


def _ask(sentence: str) -> bool:
    if not sys.stdin.isatty():
        raise _unconfirmed()
    return click.confirm(f"{sentence}. Continue?", err=True)


def _unconfirmed() -> UsageError:
    message = "confirmation is not possible: standard input is not a terminal"
    return UsageError("HF4508", message)


def _wait(holder: str) -> None:
    click.echo(f"waiting up to 30 s to see whether {holder} is still alive", err=True)
