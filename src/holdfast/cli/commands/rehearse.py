"""`holdfast rehearse PLAN.json`."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from holdfast import library
from holdfast.answers import Stopped
from holdfast.cli import pages
from holdfast.cli.commands.apply import show_step
from holdfast.cli.drawing.progress import ByteProgress
from holdfast.cli.options import Output, output_options, place_options
from holdfast.library.rehearsing import Stopping


@click.command("rehearse")
@click.argument("plan", metavar="PLAN.json", type=click.Path(path_type=Path))
@click.option(
    "--batches",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many batches Spark runs at most.",
)
@click.option(
    "--into",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Directory for the copies, new or empty (default: a temporary one).",
)
@click.option("--keep", is_flag=True, help="Keep the copies afterwards.")
@click.option(
    "--onto",
    metavar="SINK",
    help="Scratch sink, where none can be made: module:function, or a topic.",
)
@click.option("--even-if-running", is_flag=True, help="Rehearse even if a query seems to run.")
@click.option("--offline", is_flag=True, help="Do not fetch Java libraries.")
@place_options
@output_options
def command(
    plan: Path,
    batches: int,
    into: Path | None,
    keep: bool,
    onto: str | None,
    even_if_running: bool,
    offline: bool,
    **given: Any,
) -> int:
    """Try the plan in PLAN.json on copies, and report what would happen.

    Checkpoint, records and output are copied; the steps of the plan are applied to the copies, and
    real Spark runs the next batch of the job on them. The originals are only read, and their
    digests prove it. The copies are removed afterwards.
    """
    from holdfast.cli.drawing.liverun import LiveRun

    gc.enable()
    output = Output(given.pop("as_json"), given.pop("quiet"), given.pop("no_color"))
    silent = output.quiet or output.as_json
    stopping = Stopping()
    with (
        _untouched(),
        LiveRun(
            silent=silent, no_color=output.no_color, delivering=lambda: stopping.working
        ) as live,
        ByteProgress("copying", silent=silent) as progress,
    ):
        answer = library.rehearse(
            plan,
            batches=batches,
            into=into,
            keep=keep,
            onto=onto,
            even_if_running=even_if_running,
            offline=offline,
            stopping=stopping,
            watch=None if silent else show_step,
            watch_run=live.show,
            progress=progress.advance,
            **given,
        )
    return output.give(answer, page=pages.rehearsal)


@contextmanager
def _untouched() -> Iterator[None]:
    """Let Ctrl-C say what it stopped, and nothing of an act that is open on the copies."""
    try:
        yield
    except KeyboardInterrupt:
        sentence = "stopped; a rehearsal works on copies: the originals are untouched"
        raise KeyboardInterrupt(Stopped(sentence)) from None
