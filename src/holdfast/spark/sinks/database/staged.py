"""What a database sink has loaded into staging, and by which attempts of its tasks."""

from __future__ import annotations

from dataclasses import dataclass

ATTEMPT = "holdfast_attempt"
"""The column of a staging table that tells which attempt brought a row."""


@dataclass(frozen=True)
class Staged:
    """What the winning attempts loaded."""

    attempts: tuple[int, ...]
    rows: int
