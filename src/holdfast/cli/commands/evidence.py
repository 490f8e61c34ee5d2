"""`holdfast evidence TARGET`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.completion import complete_target
from holdfast.cli.options import Output, output_options, target_options

_PAGES = {"text": pages.evidence, "markdown": pages.evidence_markdown}


@click.command("evidence")
@click.argument("target", shell_complete=complete_target)
@click.option(
    "--sink",
    metavar="PATH",
    help="The output folder: its _spark_metadata or _delta_log is asked as well. For a job it is "
    "taken from holdfast.yaml.",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(tuple(_PAGES)),
    default="text",
    show_default=True,
    help="As text, or as Markdown to paste into a ticket.",
)
@click.option(
    "--bundle",
    type=click.Path(path_type=Path),
    metavar="FILE.zip",
    help="Write the logs, without state rows and without secrets, with this evidence and a "
    "manifest of digests. An existing file is not overwritten.",
)
@target_options
@output_options
def command(
    target: str,
    sink: str | None,
    form: str,
    bundle: Path | None,
    project: Path | None,
    profile: str | None,
    storage_options: tuple[str, ...],
    timeout: float | None,
    as_json: bool,
    quiet: bool,
    no_color: bool,
) -> int:
    """Gather the nine facts to have before anybody advises a rerun or a deletion.

    Checkpoint location, query id, source offsets, sink, output mode, stateful operators, state
    store provider, Spark version and restart history: each with its value, whether it was read,
    inferred or is unknown, and from what. What is missing comes with how to get it. Nothing is
    written but the bundle. The exit status is 3 when something of warning or worse was found;
    `ready` in the JSON tells whether everything essential is known.
    """
    if as_json and form != "text":
        raise click.UsageError("--json and --format markdown exclude each other")
    answer = library.evidence(
        target,
        sink=sink,
        bundle=bundle,
        project=project,
        profile=profile,
        storage_options=storage_options,
        timeout=timeout,
    )
    return Output(as_json, quiet, no_color).give(answer, page=_PAGES[form])
