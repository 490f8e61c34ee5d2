"""What the doctor calls fatal is refused by `run`: before Spark is called, and for good reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

import holdfast
from holdfast.errors import RefusedError
from tests.spark.running.projects import ROWS, Made, expected, table

pytestmark = pytest.mark.spark

UNION = "select * from {} union all select * from {}"


def united(first: str, second: str) -> dict[str, Any]:
    """Declare a job that reads two folders in an order."""
    sources = {
        name: {"format": "json", "path": f"./{name}", "schema": ROWS} for name in ("one", "two")
    }
    sink = {"format": "delta", "path": "./lake/all"}
    return {"sources": sources, "sql": UNION.format(first, second), "sink": sink}


def test_swapped_union_inputs_are_refused_before_they_double_rows(
    spark: Any, tmp_path: Path
) -> None:
    """HF2361 with status 30; back in their order the job goes on and has every row once."""
    made = Made(tmp_path, {"all": united("one", "two")})
    numbers = made.arrive(3, "one") + made.arrive(4, "two")
    holdfast.run(project=made.file)
    declared = yaml.safe_load(made.file.read_text(encoding="utf-8"))
    declared["jobs"]["all"] = united("two", "one")
    made.file.write_text(yaml.safe_dump(declared, sort_keys=False), encoding="utf-8")
    numbers += made.arrive(2, "one")
    with pytest.raises(RefusedError) as refused:
        holdfast.run(project=made.file)
    assert (refused.value.code.number, refused.value.exit_status) == ("HF2361", 30)
    fatal = holdfast.doctor("all", project=made.file).findings[0]
    assert fatal.code == "HF2361", "the doctor says the same"

    declared["jobs"]["all"] = united("one", "two")
    made.file.write_text(yaml.safe_dump(declared, sort_keys=False), encoding="utf-8")
    holdfast.run(project=made.file)
    assert table(spark, tmp_path / "lake/all") == expected(numbers)
