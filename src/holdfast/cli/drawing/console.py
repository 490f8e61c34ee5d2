"""The console: as wide as the terminal, plain where it is none."""

from __future__ import annotations

import os
import sys

from rich.console import Console

PIPE_WIDTH = 80
"""The width where standard output is no terminal and COLUMNS says nothing."""


def open_console(*, no_color: bool, to_stderr: bool = False) -> Console:
    """Open the console that answers are drawn on."""
    stream = sys.stderr if to_stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else PIPE_WIDTH
    return Console(
        file=stream,
        width=width,
        no_color=no_color or None,
        highlight=False,
        markup=False,
        emoji=False,
        soft_wrap=False,
    )
