"""`holdfast`: every command with its summary, found by name; every error becomes a sentence and
an exit status."""

from __future__ import annotations

import errno
import gc
import io
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from holdfast import __version__
from holdfast.cli.process import OutputError, closed_pipe_ignored, drop_output
from holdfast.errors import HoldfastError, UsageError
from holdfast.wording import nearest

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


COMMANDS: dict[str, str] = {
    "init": "Create a new project with a working example",
    "check": "Check whether changed code may restart on its checkpoint; start nothing",
    "record": "Record the query of a program that runs elsewhere, for its next check",
    "run": "Run jobs of the project on Spark, each on its own checkpoint",
    "status": "Show the state of the project's jobs: batches, lease, last runs",
    "inspect": "Show what is in a checkpoint and what the next start does with it",
    "evidence": "Collect the nine facts a diagnosis needs, each with its source",
    "doctor": "Check checkpoints, their sinks and their jobs; name fixes and wrong fixes",
    "state": "Show, filter, summarize or export the rows of the state at any kept batch; no JVM",
    "diff": "Compare two batches or two checkpoints",
    "plan": "Plan a remedy (resume, replay, reset, repair, move …); change nothing",
    "rehearse": "Try a plan on copies: apply it there, run real Spark on them, report",
    "apply": "Apply a plan, or finish one that was interrupted",
    "undo": "Undo a plan that was applied",
    "journal": "Show what was done to a checkpoint: plans, restores, and what was undone",
    "backup": "Make a verified copy of a checkpoint, stored next to it",
    "backups": "List the backups",
    "restore": "Restore a backup: the whole checkpoint, or single files",
    "explain": "Explain a Holdfast code or a pasted Spark error",
    "demo": "Run the sensor pipeline on real Spark, kill it twice, and count the rows",
}


_HELP = "holdfast --help"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class ReaderGoneError(Exception):
    """Nobody reads our output any more. click would take a BrokenPipeError for a failure."""


@contextmanager
def _raised_past_click() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGoneError from error


class CommandTable(click.Group):
    """Loads a command's module only when it is called, so that `--help` stays quick."""

    def list_commands(self, _context: click.Context) -> list[str]:
        """Name the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, _context: click.Context, name: str) -> click.Command | None:
        """Load one command."""
        if name not in COMMANDS:
            return None
        import importlib

        module = importlib.import_module(f"holdfast.cli.commands.{name}")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def make_context(self, *arguments: Any, **named: Any) -> click.Context:
        """Read the words; what they ask for may be printed at once, as `--help` is."""
        with _raised_past_click():
            return super().make_context(*arguments, **named)

    def invoke(self, context: click.Context) -> Any:
        """Run the command."""
        with _raised_past_click():
            return super().invoke(context)

    def format_commands(self, _context: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands with their summaries, without loading any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def shell_complete(self, context: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete a command's name from the table, without loading any."""
        from click.shell_completion import CompletionItem

        names = [name for name in COMMANDS if name.startswith(incomplete)]
        if names and not incomplete.startswith("-"):
            return [CompletionItem(name, help=COMMANDS[name]) for name in names]
        return click.Command.shell_complete(self, context, incomplete)

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; name the nearest one where there is none."""
        name = arguments[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = nearest(name, COMMANDS)
            hint = f" Did you mean {near!r}?" if near else ""
            raise click.UsageError(f"No such command {name!r}.{hint}", context)
        return super().resolve_command(context, arguments)


@click.command(cls=CommandTable, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="holdfast")
def holdfast() -> None:
    """Keep Spark Structured Streaming pipelines safe across every restart.

    A TARGET is the path or URL of a checkpoint, or a job's name in holdfast.yaml.
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a command and leave with its exit status; no traceback ever reaches the user."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    _fill_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # File names need not be text, and a terminal need not know every character.
            stream.reconfigure(errors="backslashreplace")
    # A library that fails while it tidies up has nothing to say to the user.
    sys.unraisablehook = _unheard
    # A command ends soon and makes no cycles worth collecting; looking for them takes a tenth.
    gc.disable()
    sys.exit(run(words))


def _fill_closed_streams() -> None:
    """Let nothing read what is written to a stream that the caller closed, as with `>&-`.

    A file that is opened later would take its number, and get what is printed.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            os.set_inheritable(number, True)
            setattr(sys, name, os.fdopen(number, "w" if number else "r"))


def _unheard(_failure: object) -> None:
    """Take no notice."""


def run(words: list[str]) -> int:
    """Run a command and give its exit status."""
    try:
        # Newer releases of click take a call without words for an error.
        status: Any = holdfast.main(
            words or ["--help"], prog_name="holdfast", standalone_mode=False
        )
        with closed_pipe_ignored(sys.stdout):
            pass
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.Abort as aborted:
        return _interrupted(words, aborted.__cause__)
    except click.MissingParameter as error:
        return _report(words, UsageError("HF1001", error.format_message() + _what_it_takes(error)))
    except click.ClickException as error:
        return _report(words, UsageError("HF1001", error.format_message()))
    except HoldfastError as error:
        return _report(words, error)
    except KeyboardInterrupt as stopped:
        return _interrupted(words, stopped)
    except (ReaderGoneError, BrokenPipeError):
        drop_output(sys.stdout)
        return 0
    except OSError as error:
        is_full = error.errno in _FULL
        return _report(words, OutputError(error) if is_full else _unforeseen(error))
    except Exception as error:  # noqa: BLE001  (the last border: no traceback passes it)
        return _report(words, _unforeseen(error))
    return status if isinstance(status, int) else 0


def _report(words: list[str], error: HoldfastError) -> int:
    from holdfast.cli.options import report_error

    command = next((word for word in words if word in COMMANDS), "holdfast")
    if command != "holdfast":
        own = f"holdfast {' '.join((command, *_below(command, words)))} --help"
        error.next_steps = tuple(own if one == _HELP else one for one in error.next_steps)
    as_json = "--json" in words and not isinstance(error, OutputError)
    try:
        with closed_pipe_ignored(sys.stdout if as_json else sys.stderr):
            report_error(error, command, as_json=as_json)
    except OutputError:
        # Standard output takes nothing: whoever reads standard error must still see why.
        with suppress(OutputError), closed_pipe_ignored(sys.stderr):
            report_error(error, command, as_json=False)
    return error.exit_status


def _what_it_takes(error: click.MissingParameter) -> str:
    """Return the values of the option that is missing, where its help names them."""
    option = error.param
    if not isinstance(option, click.Option) or not option.metavar:
        return ""
    return f" It takes {option.metavar}."


def _interrupted(words: list[str], stopped: BaseException | None) -> int:
    """Show what Ctrl-C left open, or that it left everything as it was."""
    from holdfast.answers import Stopped

    for told in () if stopped is None else stopped.args:
        if isinstance(told, HoldfastError):
            _report(words, told)
        elif isinstance(told, Stopped):
            with suppress(OutputError), closed_pipe_ignored(sys.stderr):
                sys.stderr.write(f"{told.sentence}\n")
    return 130


def _below(command: str, words: list[str]) -> list[str]:
    """Return the name of the remedy, which has a help of its own, behind `plan`."""
    if command != "plan":
        return []
    from holdfast.remedy.plan import Remedy

    return [word for word in words if word in {one.value for one in Remedy}][:1]


def _unforeseen(error: Exception) -> HoldfastError:
    from traceback import extract_tb

    frames = extract_tb(error.__traceback__)
    at = f"{frames[-1].name}, line {frames[-1].lineno}" if frames else None
    return HoldfastError("HF1003", f"{type(error).__name__}: {error}", at=at)
