"""The recovery rule against what five real Sparks did with thousands of damaged checkpoints."""

from __future__ import annotations

from collections import defaultdict

import pytest

from holdfast.checkpoint.outcome import Action, Outcome
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import read_picture
from holdfast.checkpoint.recovery import next_start, outcome_with
from holdfast.checkpoint.verification import verify
from holdfast.storage.memory import MemoryReader
from tests.corpus.loading import corpus, sample
from tests.restarts.loading import Truth, damaged_files, truths

NOT_IN_THE_FOLDER = {
    "state-removed": "without state/ nothing tells that the query was stateful",
    "provider-unknown": "only the job's class path knows whether the class exists",
    "settings-missing": "what the session's own settings are, only the job knows",
    "settings-empty": "what the session's own settings are, only the job knows",
    "settings-null": "what the session's own settings are, only the job knows",
    "operator-metadata-renamed": "the name is another real operator's: only the query tells",
    "second-source-removed": "two sources with the same offset look like one used twice",
    "state-newest-cut": "the content of state files is not decoded yet",
    "state-newest-garbage": "the content of state files is not decoded yet",
    "state-newest-flipped": "the content of state files is not decoded yet",
    "state-oldest-cut": "the content of state files is not decoded yet",
    "state-oldest-garbage": "the content of state files is not decoded yet",
    "state-ssts-missing": "which tables a snapshot needs stands inside of it",
    "crc-stale-in-sources": "the edited source log names a file that is not there",
}
"""Damage whose outcome the checkpoint alone can't tell, with the reason."""

STRICTER_THAN_SPARK = {
    "partitions-twice": "which of two equal keys counts depends on the reader",
    "offset-version-2": "the entry is of v1; Spark drops its offsets and starts that source anew",
    "offset-metadata-array": "Spark takes a list for metadata without any field",
    "offset-log-fraction": "Spark cuts the fraction off",
}
"""Damage at which Spark goes on with another meaning than was written; we say that it can't."""

ASYNC = "async-gaps"
"""Written with async progress tracking, started without: told in the reason, not in the action."""
SINK_KEEPS_ITS_OWN_LOG = ("file-sink", "compacted")
"""Spark's file sink skips a batch that its own log holds, so nothing is delivered again."""

BY_BASE: dict[tuple[str, str], list[Truth]] = defaultdict(list)
for _truth in truths():
    BY_BASE[_truth.spark, _truth.base].append(_truth)


def picture_of(files: dict[str, bytes]) -> Picture:
    """Read and verify files in memory."""
    reader = MemoryReader({path: data for path, data in files.items() if path != "./"})
    return verify(reader, read_picture(reader))


def first_act(truth: Truth) -> tuple[str, int | None, bool]:
    """Reduce what Spark did to the first thing that it did, as `next_start` tells it."""
    action = {"idle": "plan", "replan": "plan"}.get(truth.action, truth.action)
    later = truth.action == "fail" and truth.error is not None and "/offsets" in truth.error
    if later and truth.delivered and truth.base.endswith("-pending"):
        # The pending batch went through; the failure came with planning the one after it.
        return "rerun", truth.batch_id, False
    touched = truth.sink_touched and action == "fail"
    return action, truth.batch_id if action != "fail" or touched else None, touched


def told(outcome: Outcome) -> tuple[str, int | None, bool]:
    """Spell our prediction in the same form."""
    known = outcome.action is not Action.FAIL or outcome.sink_touched
    return outcome.action.value, outcome.batch_id if known else None, outcome.sink_touched


@pytest.mark.parametrize("spark,base", sorted(BY_BASE))
def test_every_recorded_restart_is_foretold(spark: str, base: str) -> None:
    """Each start of a real Spark on a damaged checkpoint went as the rule says."""
    release = spark.rpartition(".")[0]
    wrong: list[str] = []
    for truth in BY_BASE[spark, base]:
        if truth.damage in {**NOT_IN_THE_FOLDER, **STRICTER_THAN_SPARK} or base == ASYNC:
            continue
        expected, found = (
            first_act(truth),
            told(outcome_with(picture_of(damaged_files(truth)), release)),
        )
        if base in SINK_KEEPS_ITS_OWN_LOG:
            expected, found = (expected[0], None, False), (found[0], None, False)
        if truth.action == "idle":
            expected, found = (expected[0], None, False), (found[0], None, False)
        if expected != found:
            wrong.append(f"{truth.damage}: Spark {expected} ({truth.error}), told {found}")
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
    picture = picture_of(sample("asynchronous", "4.3.0").files())
    start = next_start(picture)
    assert start.action is Action.PLAN
    assert "doesn't exist" in start.reason


@pytest.mark.parametrize("one", corpus(), ids=str)
def test_real_checkpoints_go_on_after_their_last_batch(one: object) -> None:
    """What Spark last ran decides: the batch after it, or the same again when it failed."""
    from tests.corpus.loading import Sample

    assert isinstance(one, Sample)
    picture = picture_of(one.files())
    start = next_start(picture)
    if one.name == "repartition-refused":
        assert start.action is Action.FAIL
    elif one.name == "fresh":
        assert (start.action, start.batch_id) == (Action.FRESH, 0)
    elif one.name.startswith("pending") or one.name.endswith("-pending"):
        assert start.action is Action.RERUN
        assert "may already hold it" in start.reason
    else:
        assert start.action is Action.PLAN


def test_differences_between_releases_are_told() -> None:
    """A checkpoint without metadata starts silently on 4.1 and is refused by 4.2."""
    files = sample("stateless", "4.3.0").files()
    del files["metadata"], files[".metadata.crc"]
    start = next_start(picture_of(files))
    assert start.action is Action.FAIL
    assert {one.spark: one.action for one in start.differs} == {
        "3.5": Action.PLAN,
        "4.0": Action.PLAN,
        "4.1": Action.PLAN,
    }
