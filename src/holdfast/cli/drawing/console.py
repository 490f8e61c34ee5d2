"""The console: as wide as the terminal, plain where it is none."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console

PIPE_WIDTH = 80
"""The width where standard output is no terminal and COLUMNS says nothing."""


@contextmanager
def drawing_console(*, no_color: bool) -> Iterator[Console]:
    """Give the console to draw on; what was drawn reaches standard output at the end."""
    on_terminal = sys.stdout.isatty()
    console = Console(
        file=sys.stdout,
        width=None if on_terminal or "COLUMNS" in os.environ else PIPE_WIDTH,
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
