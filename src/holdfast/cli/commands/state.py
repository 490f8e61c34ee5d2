"""`holdfast state TARGET`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.drawing.progress import ByteProgress
from holdfast.cli.options import Output, complete_target, output_options, target_options
from holdfast.cli.process import start_numpy_without_threads
from holdfast.library.state import FIRST_ROWS, MEMORY_BYTES

_MEGABYTE = 1_000_000


@click.command("state")
@click.argument("target", shell_complete=complete_target)
@click.option(
    "--operator",
    type=click.IntRange(min=0),
    metavar="N",
    help="Id of the stateful operator (default: the first).",
)
@click.option(
    "--store",
    metavar="NAME",
    help="Store of the operator, or a state variable (default: the first).",
)
@click.option(
    "--batch",
    type=click.IntRange(min=0),
    metavar="ID",
    help="State as of this batch (default: the newest committed batch).",
)
@click.option(
    "--partition", type=click.IntRange(min=0), metavar="N", help="Read only this partition."
)
@click.option(
    "--key",
    metavar="KEY",
    help=(
        "Only this key: its value, or a JSON object with its columns. Reads only the partition of "
        "the key."
    ),
)
@click.option(
    "--where",
    metavar="CONDITION",
    help="Only rows that match, such as \"count > 10 and device = 'a'\".",
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    help=f"Maximum number of rows (default: {FIRST_ROWS} when shown, all when written).",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the rows to this .parquet, .csv or .jsonl file instead of showing them.",
)
@click.option("--force", is_flag=True, help="Overwrite the --output file if it exists.")
@click.option(
    "--summary",
    is_flag=True,
    help="Show statistics instead of rows: keys, bytes, skew, event times, growth.",
)
@click.option(
    "--memory",
    type=click.IntRange(min=50),
    default=MEMORY_BYTES // _MEGABYTE,
    show_default=True,
    metavar="MB",
    help="Memory limit for reading; the rest goes to temporary files.",
)
@target_options
@output_options
def command(
    target: str,
    operator: int | None,
    store: str | None,
    batch: int | None,
    partition: int | None,
    key: str | None,
    where: str | None,
    limit: int | None,
    output: Path | None,
    force: bool,
    summary: bool,
    memory: int,
    project: Path | None,
    profile: str | None,
    storage_options: tuple[str, ...],
    timeout: float | None,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Show rows of the state, write them to a file, or summarize them.

    TARGET is the path or URL of a checkpoint, or a job's name in holdfast.yaml. Spark is not
    started, and the checkpoint is not changed. A condition compares columns of key and value with
    = != < <= > >=, in (…), like and is null, combined with and, or, not and parentheses; if key and
    value have a column of the same name, NAME is the key's and value.NAME the value's.
    """
    start_numpy_without_threads()
    with ByteProgress("reading", silent=quiet or as_json) as progress:
        answer = library.read_state(
            target,
            operator=operator,
            store=store,
            batch=batch,
            partition=partition,
            key=key,
            where=where,
            limit=limit,
            output=output,
            force=force,
            summary=summary,
            memory_bytes=memory * _MEGABYTE,
            project=project,
            profile=profile,
            storage_options=storage_options,
            timeout=timeout,
            progress=progress.advance,
        )
    return Output(as_json, quiet, no_color).give(answer, page=pages.state)
