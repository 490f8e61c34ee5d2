"""`holdfast explain CODE`."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

import click

from holdfast.answers import Answer
from holdfast.cli.options import Output, output_options
from holdfast.codes import CODES, Code
from holdfast.errors import UsageError


@dataclass(frozen=True)
class Explanation:
    """The page of one code."""

    code: str
    title: str
    why: str
    next: tuple[str, ...]
    exit_status: int


@click.command("explain")
@click.argument("code")
@output_options
def command(code: str, as_json: bool, quiet: bool, no_color: bool) -> int:
    """Print the page of a code: what it means, why it matters and what to do next."""
    page = _page(code.strip().upper())
    explanation = Explanation(page.number, page.title, page.why, page.next_steps, page.exit_status)
    answer = Answer("explain", page.number, explanation)
    return Output(as_json, quiet, no_color).give(answer, drawing="explanation")


def _page(number: str) -> Code:
    numbers = {code.number: code for code in CODES}
    if number in numbers:
        return numbers[number]
    near = get_close_matches(number, numbers, n=1)
    hint = f"; the nearest is {near[0]}" if near else ""
    raise UsageError("HF1001", f"{number} is no code of Holdfast{hint}")
