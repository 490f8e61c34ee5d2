"""Some changes of a query, live: Spark does what the record says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.changes.judging import Judge
from tests.changes.loading import change_records
from tests.changes.pairs import PAIRS

pytestmark = pytest.mark.spark

LIVE = (
    "sum-to-max",
    "key-added",
    "join-range-spelled-otherwise",
    "shuffle-partitions",
    "union-swapped",
    "udf-body",
)
"""One per outcome and important group; all are recorded again by `make restarts`."""


@pytest.mark.parametrize("name", LIVE)
def test_a_change_comes_to_what_is_recorded(spark: Any, tmp_path: Path, name: str) -> None:
    """The same outcome, the same error but for its paths, the same numbers of rows."""
    (pair,) = (one for one in PAIRS if one.name == name)
    (recorded,) = (one for one in change_records() if one["pair"] == name)
    seen = Judge(spark, tmp_path).judged(pair)
    assert _without_paths(seen) == _without_paths(recorded)


def _without_paths(record: dict[str, Any]) -> dict[str, Any]:
    """Which of two sources Spark reads first, and names in its error, is not the same each time."""
    return {**record, "error": re.sub(r"\S*<folder>\S*", "<path>", str(record.get("error")))}
