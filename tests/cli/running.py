"""Runs the command line in this process and keeps what it printed."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from typing import Any

from holdfast.cli.main import run


@dataclass(frozen=True)
class Printed:
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """The one JSON document on standard output."""
        parsed: dict[str, Any] = json.loads(self.out)
        return parsed

    def fits(self, width: int) -> bool:
        """Whether no line is longer, but for a path that stands in one piece beside its label."""
        long = [line for line in self.out.splitlines() if len(line) > width]
        return all(len(line[7:].split()) == 1 for line in long)


def holdfast(*words: str) -> Printed:
    """Run `holdfast` with these words."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(list(words))
    return Printed(status, out.getvalue(), err.getvalue())
