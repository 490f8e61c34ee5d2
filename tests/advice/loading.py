"""Gives tests and pages what came of following a step."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TRUTH = Path(__file__).resolve().parent / "truth"
RECORDED_WITH = "4.2.0"


def records(spark: str = RECORDED_WITH) -> list[dict[str, Any]]:
    """Return the records of one Spark, in the order of the programs."""
    file = TRUTH / f"{spark}.json"
    found: list[dict[str, Any]] = (
        json.loads(file.read_text(encoding="utf-8")) if file.exists() else []
    )
    return found
