"""Draws the error that stopped a command: on standard error, or as the one JSON document."""

from __future__ import annotations

import json
import sys

from holdfast import __version__
from holdfast.answers import error_document
from holdfast.errors import HoldfastError
from holdfast.redaction import redact


def report_error(error: HoldfastError, command: str, *, as_json: bool) -> None:
    """Tell what went wrong, where, why it matters and what to do next."""
    if as_json:
        document = error_document(command, __version__, error)
        json.dump(document, sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")
        return
    lines = [f"error {error.code.number}: {redact(error.message)}"]
    if error.at:
        lines.append(f"  at    {redact(error.at)}")
    if error.why:
        lines.append(f"  why   {redact(error.why)}")
    lines += [f"  next  {redact(step)}" for step in error.next_steps]
    sys.stderr.write("\n".join(lines) + "\n")
