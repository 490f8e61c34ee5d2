"""Some advice, followed live: the installed Spark does what the records say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.advice import programs
from tests.advice.following import FOLLOWINGS, Following
from tests.advice.loading import records
from tests.advice.record import followed

pytestmark = pytest.mark.spark

LIVE = ("left-over-moved-after-file-sink", "sink-ahead-and-restored", "commit-deleted-append")
"""Quick ones: a step, a restore, and a fix that is warned of."""
CHOSEN = [one for one in FOLLOWINGS if one.name in LIVE]
assert programs.PROGRAMS


@pytest.mark.parametrize("following", CHOSEN, ids=lambda one: one.name)
def test_what_was_recorded_happens(spark: Any, following: Following) -> None:
    """All of them are recorded again with python -m tests.advice.record."""
    (recorded,) = [one for one in records() if one["followed"] == following.name]
    seen = followed(following, spark)
    assert (seen["outcome"], seen["reported"]) == (recorded["outcome"], recorded["reported"])
