"""Some situations of the field, live: the installed Spark does what the records say."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.diagnosis.doctor.trials.loading import record_named
from tests.diagnosis.doctor.trials.record import tried
from tests.diagnosis.doctor.trials.trial import TRIALS

pytestmark = pytest.mark.spark

RECORDED_WITH = "4.2.0"
LONG = ("snapshot", "changelogs", "async", "sink-log-lost", "join")
"""Those that wait for the maintenance thread, or have many batches."""
QUICK = [
    one
    for one in TRIALS
    if one.fits(RECORDED_WITH, jars=False) and not any(part in one.name for part in LONG)
]
HANDFUL = random.Random(4).sample(sorted(QUICK, key=lambda one: one.name), 5)


@pytest.mark.parametrize("trial", HANDFUL, ids=lambda one: one.name)
def test_spark_does_what_was_recorded(spark: Any, trial: Any) -> None:
    """A seeded handful; tests/diagnosis/doctor/trials/record.py records all of them anew."""
    seen = tried(trial, spark)
    assert seen["outcome"] == record_named(f"{RECORDED_WITH}/{trial.name}").outcome
