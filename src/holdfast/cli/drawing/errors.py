"""Draws the error that stopped a command: on standard error, or as the one JSON document."""

from __future__ import annotations

import json
import sys

from holdfast import __version__
from holdfast.answers import error_document
from holdfast.errors import HoldfastError


def report_error(error: HoldfastError, command: str, *, as_json: bool) -> None:
    """Tell what went wrong, where, why it matters and what to do next."""
    if as_json:
        document = error_document(command, __version__, error)
        json.dump(document, sys.stdout, indent=2, ensure_ascii=False)
        sys.stdout.write("\n")
        return
    sys.stderr.write(f"error {error}\n")
