"""Regular expressions that are compiled when they are first needed, so that importing is quick."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache


def expression(source: str, flags: int = 0) -> Callable[[], re.Pattern[str]]:
    """Give a function that gives the compiled expression: most commands never need most of them."""
    return cache(lambda: re.compile(source, flags))
