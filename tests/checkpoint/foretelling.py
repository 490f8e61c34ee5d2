"""What we tell and what Spark did, in one form, with the differences that are meant."""

from __future__ import annotations

from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.reading import read_picture
from holdfast.checkpoint.recovery.forecast import outcome_with
from holdfast.checkpoint.recovery.outcome import Action, StartOutcome
from holdfast.checkpoint.verification import verify
from holdfast.storage.memory import MemoryReader
from tests.restarts.loading import Truth

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


def verified_picture(files: dict[str, bytes]) -> Picture:
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


def told(outcome: StartOutcome) -> tuple[str, int | None, bool]:
    """Spell our prediction in the same form."""
    known = outcome.action is not Action.FAIL or outcome.sink_touched
    return outcome.action.value, outcome.batch_id if known else None, outcome.sink_touched


def contradiction(truth: Truth, files: dict[str, bytes]) -> str | None:
    """Say how our word differs from what Spark did; None where it does not, or is excused."""
    if truth.damage in {**NOT_IN_THE_FOLDER, **STRICTER_THAN_SPARK} or truth.base == ASYNC:
        return None
    release = truth.spark.rpartition(".")[0]
    expected, found = first_act(truth), told(outcome_with(verified_picture(files), release))
    if truth.base in SINK_KEEPS_ITS_OWN_LOG or truth.action == "idle":
        expected, found = (expected[0], None, False), (found[0], None, False)
    if expected == found:
        return None
    return f"{truth.damage}: Spark {expected} ({truth.error}), told {found}"
