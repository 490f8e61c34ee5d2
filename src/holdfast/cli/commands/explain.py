"""`holdfast explain CODE|TEXT`."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import click

from holdfast import library
from holdfast.cli import pages
from holdfast.cli.options import Output, output_options
from holdfast.errors import UsageError

_LONGEST_NAME = 255


@click.command("explain")
@click.argument("text", nargs=-1, required=True, metavar="CODE|TEXT")
@output_options
def command(text: tuple[str, ...], as_json: bool, quiet: bool, no_color: bool) -> int:
    """Explain a Holdfast code or a pasted Spark error, offline.

    Prints what it means, which common advice is wrong, what to do next, and which code detects it
    before the start. `-` reads the text from standard input; paste the whole stack trace if you
    can. The exit status is 3 if no page explains the text.
    """
    given = _from_input() if text == ("-",) else " ".join(text)
    answer = library.explain(given)
    if answer.status == "findings" and text != ("-",) and _is_file(given):
        step = f"holdfast explain - < {shlex.quote(given)}"
        message = f"{given} is a file, and explain takes the text of an error"
        raise UsageError("HF1001", message, next_steps=(step,))
    return Output(as_json, quiet, no_color).give(answer, page=pages.explanation)


def _is_file(text: str) -> bool:
    """Whether a text is the name of a file; a stack trace is too long for one."""
    return len(text) < _LONGEST_NAME and "\n" not in text and Path(text).is_file()


def _from_input() -> str:
    """Read standard input; a log need not be clean text."""
    stream = getattr(sys.stdin, "buffer", None)
    return sys.stdin.read() if stream is None else stream.read().decode("utf-8", "replace")
