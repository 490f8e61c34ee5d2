"""`holdfast diff TARGET [OTHER]`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.options import Output, complete_target, output_options, target_options
from holdfast.cli.process import start_numpy_without_threads
from holdfast.library.looking import COMPARED_BATCHES, SHOWN_ROWS


@click.command("diff")
@click.argument("target", shell_complete=complete_target)
@click.argument("other", required=False, shell_complete=complete_target)
@click.option(
    "--from",
    "from_batch",
    type=click.IntRange(0),
    metavar="B",
    help=(
        "Left side: state after this batch. [default: the batch before --to; with OTHER, the "
        "newest committed batch]"
    ),
)
@click.option(
    "--to",
    "to_batch",
    type=click.IntRange(0),
    metavar="B",
    help="Right side: state after this batch. [default: the newest committed batch]",
)
@click.option("--operator", type=click.IntRange(0), metavar="N", help="Only this operator's state.")
@click.option("--store", metavar="S", help="Only this store or state variable.")
@click.option(
    "--limit",
    type=click.IntRange(0, 100_000),
    default=SHOWN_ROWS,
    show_default=True,
    metavar="N",
    help="Number of added, changed and removed rows to show per store.",
)
@click.option("--logs-only", is_flag=True, help="Compare the logs only; do not read state.")
@click.option(
    "--batches",
    type=click.IntRange(1, 100_000),
    default=COMPARED_BATCHES,
    show_default=True,
    help="Number of newest batches to compare between two checkpoints.",
)
@target_options
@output_options
def command(
    target: str,
    other: str | None,
    from_batch: int | None,
    to_batch: int | None,
    operator: int | None,
    store: str | None,
    limit: int,
    logs_only: bool,
    batches: int,
    project: Path | None,
    profile: str | None,
    storage_options: tuple[str, ...],
    timeout: float | None,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Compare two batches or two checkpoints.

    With one TARGET: compare the state after one batch with the state after another (rows added,
    changed and removed). With OTHER: compare identity, batches, offsets, commits, pinned settings,
    operators and newest state of two checkpoints. Nothing is written. The exit status is 0 whether
    they differ or not; see `identical` in the JSON.
    """
    start_numpy_without_threads()
    answer = library.diff(
        target,
        other,
        from_batch=from_batch,
        to_batch=to_batch,
        operator=operator,
        store=store,
        limit=limit,
        logs_only=logs_only,
        batches=batches,
        project=project,
        profile=profile,
        storage_options=storage_options,
        timeout=timeout,
    )
    return Output(as_json, quiet, no_color).give(answer, page=pages.comparison)
