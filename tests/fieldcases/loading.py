"""Gives tests what was recorded of the field cases: what `holdfast` said, and what Spark did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TRUTH = Path(__file__).resolve().parent / "truth"


def _read() -> dict[str, dict[str, Any]]:
    return {
        f"{file.stem}/{one['trial']}": one
        for file in sorted(TRUTH.glob("*.json"))
        for one in json.loads(file.read_text(encoding="utf-8"))
    }


_BY_NAME = _read()
FIELD_RECORDS = list(_BY_NAME.values())


def field_case_named(name: str) -> dict[str, Any] | None:
    """Return a record by release and name; None where it is none of a field case."""
    return _BY_NAME.get(name)
