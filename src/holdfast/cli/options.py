"""The options that commands share, their completion, and how an answer or an error leaves."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holdfast import __version__
from holdfast.answers import Answer, error_document
from holdfast.cli.process import closed_pipe_ignored
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from rich.console import Console


_LONGEST = 1e8
"""Seconds or days, as a number that every clock can count."""


class Duration(click.FloatRange):
    """A number of seconds or days that can be waited for: neither `nan` nor endless."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return the number; refuse one that is none, or too large."""
        number = float(super().convert(value, param, ctx))
        if not number <= _LONGEST:
            self.fail(f"{value} is not a number up to {_LONGEST:,.0f}.", param, ctx)
        return number


def complete_jobs(
    context: click.Context, _parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the jobs of the project that begin so, without those that are already given."""
    from click.shell_completion import CompletionItem

    given = {
        word for words in context.params.values() if isinstance(words, tuple) for word in words
    }
    return [
        CompletionItem(name)
        for name in _job_names(context)
        if name.startswith(incomplete) and name not in given
    ]


def complete_target(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return the jobs that begin so; where none does, let the shell complete directories."""
    from click.shell_completion import CompletionItem

    return complete_jobs(context, parameter, incomplete) or [CompletionItem(incomplete, type="dir")]


def complete_backup(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Return each job with @newest behind it, as `restore` takes it."""
    from click.shell_completion import CompletionItem

    jobs = complete_jobs(context, parameter, incomplete.partition("@")[0])
    items = [CompletionItem(f"{item.value}@newest") for item in jobs]
    return items or [CompletionItem(incomplete, type="dir")]


def _job_names(context: click.Context) -> list[str]:
    from holdfast.library.completing import names_of_jobs

    return names_of_jobs(context.params.get("project"))


Function = TypeVar("Function", bound=Callable[..., Any])
Result = TypeVar("Result")


@dataclass(frozen=True)
class Output:
    """How the user wants to see the answer."""

    as_json: bool
    quiet: bool
    no_color: bool

    def give(
        self, answer: Answer[Result], *, page: Callable[[Answer[Result], Console], None]
    ) -> int:
        """Print the answer to standard output and return the exit status; `page` draws the text."""
        with closed_pipe_ignored(sys.stdout):
            self._print(answer, page)
        return answer.exit_status

    def _print(
        self, answer: Answer[Result], page: Callable[[Answer[Result], Console], None]
    ) -> None:
        if self.as_json:
            json.dump(answer.document(__version__), sys.stdout, indent=2, ensure_ascii=False)
            sys.stdout.write("\n")
        elif not self.quiet:
            from holdfast.cli.drawing.console import drawing_console

            with drawing_console(no_color=self.no_color) as console:
                page(answer.redacted(), console)


def output_options(function: Function) -> Function:
    """Add --json, --quiet and --no-color."""
    for option in (
        click.option("--no-color", is_flag=True, help="Disable colors (like NO_COLOR)."),
        click.option("--quiet", is_flag=True, help="Print nothing; use the exit status."),
        click.option("--json", "as_json", is_flag=True, help="Print one JSON document on stdout."),
    ):
        function = option(function)
    return function


def target_options(function: Function) -> Function:
    """Add --project, --storage-option and --timeout."""
    timeout = click.option(
        "--timeout",
        type=Duration(min=0, min_open=True),
        metavar="SECONDS",
        help="Give up if the storage does not answer in this time.",
    )
    return place_options(timeout(function))


def place_options(function: Function) -> Function:
    """Add --project, --profile and --storage-option: what finds a place."""
    storage_option = click.option(
        "--storage-option",
        "storage_options",
        multiple=True,
        metavar="KEY=VALUE",
        help="Storage setting, such as endpoint=…; may be repeated.",
    )
    return project_options(storage_option(function))


def project_options(function: Function) -> Function:
    """Add --project and --profile."""
    for option in (
        click.option(
            "--profile",
            metavar="NAME",
            help="Use this profile of the project file (default: $HOLDFAST_PROFILE, else none).",
        ),
        click.option(
            "--project",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="Project file, or the directory that holds it (default: nearest holdfast.yaml in "
            "this or a parent directory).",
        ),
    ):
        function = option(function)
    return function


def report_error(error: HoldfastError, command: str, *, as_json: bool) -> None:
    """Print what went wrong, where, why it matters and what to do next."""
    if as_json:
        document = error_document(command, __version__, error)
        json.dump(document, sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")
        return
    sys.stderr.write(f"error {error}\n")
