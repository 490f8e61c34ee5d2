"""What all pages share: the console, findings on it, and quantities spelled for people."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from holdfast.findings import Finding, Severity
from holdfast.format.sources import Amount
from holdfast.wording import measured

if TYPE_CHECKING:
    from holdfast.diagnosis.doctor.examination import Reported


STYLES = {
    Severity.INFO: "cyan",
    Severity.WARNING: "yellow",
    Severity.ERROR: "red",
    Severity.FATAL: "bold red",
}
MOST = 20
_INDENT = 7
_NARROWEST = 20
_ACCEPTING = re.compile(r"holdfast (?:run|check) [^,;]*?--accept \S+")
_UNBROKEN = "\0"


def draw_findings(findings: tuple[Finding, ...], location: str, console: Console) -> None:
    """Draw the findings; information that needs no act takes one line."""
    for finding in findings[:MOST]:
        label = Text(f"{finding.severity.value} {finding.code}", STYLES[finding.severity])
        console.print(Text.assemble(label, ": ", finding.message))
        if finding.severity is Severity.INFO:
            continue
        draw_line("at", finding.place.within(location), console)
        draw_line("why", finding.why, console)
        for step in finding.next_steps:
            draw_line("next", step, console)
    if len(findings) > MOST:
        console.print(f"{hidden_text(findings[MOST:])} (--json shows all)")


def hidden_text(left: Sequence[Finding | Reported]) -> str:
    """Return how many findings are not shown, and of which codes."""
    counts = Counter(one.code for one in left)
    codes = [code if count == 1 else f"{code} ({count})" for code, count in counts.items()]
    return f"… and {len(left)} more: {', '.join(codes)}"


def draw_line(label: str, text: str, console: Console) -> None:
    """Draw a text beside its label, wrapped between words: a path stays in one piece.

    So does a command that accepts something: half of it would be another command.
    """
    width = max(_NARROWEST, console.width - _INDENT)
    kept = _ACCEPTING.sub(lambda found: found[0].replace(" ", _UNBROKEN), text)
    lines = textwrap.wrap(kept, width, break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(lines):
        beginning = f"  {label:<4} " if number == 0 else " " * _INDENT
        console.print(f"{beginning}{line.replace(_UNBROKEN, ' ')}", soft_wrap=True)


PIPE_WIDTH = 80
"""The width where standard output is no terminal and COLUMNS says nothing."""


@contextmanager
def drawing_console(*, no_color: bool) -> Iterator[Console]:
    """Yield the console to draw on; what was drawn reaches standard output at the end."""
    on_terminal = sys.stdout.isatty()
    width = None if on_terminal or "COLUMNS" in os.environ else PIPE_WIDTH
    if os.environ.get("COLUMNS") == "0":  # Some terminals set it so; nothing fits into it.
        width = PIPE_WIDTH
    console = Console(
        file=sys.stdout,
        width=width,
        no_color=no_color or None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    if on_terminal:
        yield console
        return
    with console.capture() as captured:
        yield console
    # Tables are padded to their width, which no file and no pipe needs.
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in captured.get().splitlines())


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def size_text(size_bytes: int) -> str:
    """Spell a size: 512 B, 12.3 kB, 4.0 GB."""
    size = float(size_bytes)
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size_bytes} B" if unit == "B" else f"{size:.1f} {unit}"


def time_text(moment_ms: int | None) -> str:
    """Spell a time in UTC, or what the number is where it is no time that exists."""
    if moment_ms is None:
        return ""
    try:
        moment = _EPOCH + timedelta(milliseconds=moment_ms)
    except OverflowError:
        return f"{moment_ms} ms"
    return moment.strftime("%Y-%m-%d %H:%M:%SZ")


def amount_text(amount: Amount | None) -> str:
    """Spell what a batch took from a source."""
    if amount is None or (amount.total is None and not amount.note):
        return "?"
    if amount.total is None:
        return f"? ({amount.note})"
    return f"{amount.total:,}" if amount.unit == "unknown" else measured(amount.total, amount.unit)
