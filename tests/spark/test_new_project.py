"""The project that `holdfast init` writes runs as it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast import library
from holdfast.jobs.scaffold import write_project


@pytest.mark.spark
def test_a_new_project_runs_as_it_is(spark: Any, tmp_path: Path) -> None:
    write_project(tmp_path / "shop")
    file = tmp_path / "shop" / "holdfast.yaml"
    # The tests share one Spark, which a job may use only if its settings are the job's.
    file.write_text(file.read_text().replace("local[*]", "local[2]"))
    answer = library.run(project=file)
    assert [(one.job, one.ended.value, one.rows) for one in answer.result.jobs] == [
        ("orders", "finished", 6),
        ("customer-totals", "finished", 6),
    ]
    table = spark.read.format("delta").load(str(tmp_path / "shop" / "lake" / "customer-totals"))
    assert {row.customer: (row.orders, row.amount) for row in table.collect()} == {
        "ada": (2, 18.25),
        "grace": (2, 59.5),
        "edsger": (1, 7.25),
        "barbara": (1, 63.0),
    }
    remembered = (tmp_path / "shop" / ".holdfast" / "checkpoints.json").read_text()
    assert "./checkpoints/customer-totals" in remembered
