"""`holdfast evidence TARGET`."""

from __future__ import annotations

from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.options import Output, complete_target, output_options, target_options

_PAGES = {"text": pages.evidence, "markdown": pages.evidence_markdown}


@click.command("evidence")
@click.argument("target", shell_complete=complete_target)
@click.option(
    "--sink",
    metavar="PATH",
    help=(
        "Output directory; its _spark_metadata or _delta_log is read too (default for a job: from "
        "holdfast.yaml)."
    ),
)
@click.option(
    "--format",
    "form",
    type=click.Choice(tuple(_PAGES)),
    default="text",
    show_default=True,
    help="Output format: text, or Markdown for a ticket.",
)
@click.option(
    "--bundle",
    type=click.Path(path_type=Path),
    metavar="FILE.zip",
    help=(
        "Write a bundle: the logs (no state rows, no secrets), this evidence, and a manifest of "
        "digests. An existing file is not overwritten."
    ),
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
    """Collect the nine facts a diagnosis needs, each with its source.

    Checkpoint location, query id, source offsets, sink, output mode, stateful operators, state
    store provider, Spark version and restart history: each with its value, whether it was read,
    inferred or is unknown, and its source. For a missing fact, the output says how to get it. Only
    the bundle is written. The exit status is 3 if there is a warning or worse; `ready` in the JSON
    says whether every essential fact is known.
    """
    if as_json and form != "text":
        raise click.UsageError("--json and --format markdown cannot be combined")
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
