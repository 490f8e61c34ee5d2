"""The first start after a reset gets the options and the output that the reset decided."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.errors import RefusedError
from holdfast.jobs.ready import ReadyJob
from holdfast.records.folder import RecordsFolder, records_of
from holdfast.records.freshstarts import FreshStart, FreshStarts
from holdfast.records.history import History
from holdfast.running.admission import refuse_given_up
from holdfast.running.freshstart import begun_as_reset, coming_start
from tests.records.runs import some_run
from tests.spark.readyjobs import job, source

AT = "2026-01-31T00:00:00.000Z"
FRESH: Any = SimpleNamespace(batches=SimpleNamespace(last_planned=None))
BEGUN: Any = SimpleNamespace(batches=SimpleNamespace(last_planned=0))


def reset(
    folder: Path,
    generation: int = 3,
    output: str | None = None,
    starting: Mapping[str, Mapping[str, str | None]] | None = None,
) -> tuple[ReadyJob, RecordsFolder]:
    """Make a job over Kafka whose checkpoint was reset."""
    options = {"subscribe": "orders", "startingoffsets": "earliest", "startingTimestamp": "1"}
    made = job(folder, source("kafka", options=options))
    records = records_of(made.checkpoint, made.settings)
    FreshStarts(records).write(FreshStart(generation, "act-1", AT, output, starting or {}))
    return made, records


OFFSETS = {"source": {"startingOffsets": "latest", "startingTimestamp": None}}


def test_the_starting_options_of_a_reset_take_the_place_of_the_declared_ones(
    tmp_path: Path,
) -> None:
    made, records = reset(tmp_path, starting=OFFSETS)
    (begun,) = begun_as_reset(made, records, FRESH, is_declared=True).sources
    assert begun.options == {"subscribe": "orders", "startingOffsets": "latest"}
    assert begun_as_reset(made, records, BEGUN, is_declared=True) == made


def test_a_program_sets_its_own(tmp_path: Path) -> None:
    made, records = reset(tmp_path, starting=OFFSETS)
    with pytest.raises(RefusedError) as refused:
        begun_as_reset(made, records, FRESH, is_declared=False)
    assert refused.value.code.number == "HF3033"


def test_a_reset_counts_until_a_batch_is_delivered(tmp_path: Path) -> None:
    made, records = reset(tmp_path, output="/elsewhere")
    with pytest.raises(RefusedError) as refused:
        refuse_given_up(made, records)
    assert refused.value.code.number == "HF3032"
    History(records).write(replace(some_run(4), last_batch=None))
    assert coming_start(records) is not None
    History(records).write(replace(some_run(5), last_batch=0, batches=1))
    assert coming_start(records) is None
    refuse_given_up(made, records)


def test_the_newest_reset_counts_and_an_undone_one_does_not(tmp_path: Path) -> None:
    _, records = reset(tmp_path, 3)
    FreshStarts(records).write(FreshStart(7, "act-2", AT))
    assert FreshStarts(records).newest() == FreshStart(7, "act-2", AT)
    FreshStarts(records).remove("act-2")
    assert FreshStarts(records).newest() == FreshStart(3, "act-1", AT)
