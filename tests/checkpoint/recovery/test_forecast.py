"""The recovery rule against what five real Sparks did with thousands of damaged checkpoints."""

from __future__ import annotations

from collections import defaultdict

import pytest

from holdfast.checkpoint.recovery.forecast import next_start
from holdfast.checkpoint.recovery.outcome import Action
from tests.checkpoint.foretelling import (
    NOT_IN_THE_FOLDER,
    STRICTER_THAN_SPARK,
    contradiction,
    verified_picture,
)
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus, sample
from tests.restarts.loading import Truth, damaged_files, drawn_truths, truths

BY_BASE: dict[tuple[str, str], list[Truth]] = defaultdict(list)
for _truth in truths():
    BY_BASE[_truth.spark, _truth.base].append(_truth)


@pytest.mark.parametrize("spark,base", sorted(BY_BASE))
def test_every_recorded_restart_is_foretold(spark: str, base: str, whole: bool) -> None:
    """Each start of a real Spark on a damaged checkpoint went as the rule says."""
    chosen = [one for one in BY_BASE[spark, base] if whole or one in drawn_truths()]
    found = (contradiction(one, damaged_files(one)) for one in chosen)
    wrong = [one for one in found if one is not None]
    assert not wrong, "\n".join(wrong)


def test_the_truth_is_there() -> None:
    """Five releases were asked, several hundred times each."""
    counts: dict[str, int] = defaultdict(int)
    for truth in truths():
        counts[truth.spark.rpartition(".")[0]] += 1
    assert sorted(counts) == ["3.5", "4.0", "4.1", "4.2", "4.3"]
    assert min(counts.values()) > 300


def test_every_exception_is_still_needed() -> None:
    """A damage excused above occurs in the truth; otherwise the excuse is stale."""
    excused = {*NOT_IN_THE_FOLDER, *STRICTER_THAN_SPARK}
    assert excused <= {truth.damage for truth in truths()}


def test_async_gaps_warn_of_a_start_without_async() -> None:
    """Spark without async tracking stops there; the reason says so in Spark's words."""
    picture = verified_picture(sample("asynchronous", "4.3.0").files())
    start = next_start(picture)
    assert start.action is Action.PLAN
    assert "doesn't exist" in start.reason


@over_samples("one", corpus())
def test_real_checkpoints_go_on_after_their_last_batch(one: Sample) -> None:
    """A batch that failed runs again, otherwise the one after it is planned."""
    picture = verified_picture(one.files())
    start = next_start(picture)
    if one.name == "repartition-refused":
        assert start.action is Action.FAIL
    elif one.name == "fresh":
        assert (start.action, start.batch_id) == (Action.FRESH, 0)
    elif picture.pending is not None:
        assert start.action is Action.RERUN
        assert "may already be in the sink" in start.reason
    else:
        assert start.action is Action.PLAN
        assert not one.name.startswith("pending")


def test_differences_between_releases_are_told() -> None:
    """A checkpoint without metadata starts silently on 4.1 and is refused by 4.2."""
    files = sample("stateless", "4.3.0").files()
    del files["metadata"], files[".metadata.crc"]
    start = next_start(verified_picture(files))
    assert start.action is Action.FAIL
    assert {one.spark: one.action for one in start.differs} == {
        "3.5": Action.PLAN,
        "4.0": Action.PLAN,
        "4.1": Action.PLAN,
    }
