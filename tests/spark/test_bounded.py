"""Batches of a prepared checkpoint: what Spark plans by itself never reaches the sink."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import HoldfastError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.jobs.readying import ready_job
from holdfast.running.bounded import BoundedBatches
from holdfast.running.options import session_of_project
from holdfast.spark.bounded import run_bounded
from holdfast.storage.location import parse_location
from tests.spark.running.projects import Made, ingest

pytestmark = pytest.mark.spark


def test_a_batch_that_spark_planned_is_not_delivered(spark: Any, tmp_path: Path) -> None:
    """Nobody wrote its offsets down, so that Spark takes what the source has."""
    sink = {"path": "./lake/raw", "format": "delta", "mode": "upsert", "key": ["n"]}
    made = Made(tmp_path, {"job": ingest() | {"sink": sink}})
    made.arrive(3)
    project = ProjectChoice.of(made.file, None).load_required(tmp_path)
    job = ready_job(project, "job")
    wish = session_of_project(project, (job,), offline=False, ui=False, verbose=False)
    batches = BoundedBatches(
        name="query+backfill-0123456789abcdef",
        last=1,
        generation=1,
        confirm=lambda: None,
        keeps_newer=False,
        fits=lambda _: None,
        fits_table=lambda _: None,
        fits_job=lambda _: None,
        is_there=lambda _: None,
        offered=lambda _: b"",
        committed=lambda _: False,
    )
    with pytest.raises(HoldfastError) as caught:
        run_bounded(job, parse_location(str(tmp_path / "beside")), batches, wish)
    assert caught.value.code.number == "HF4646"
    assert not (tmp_path / "lake/raw").exists()
