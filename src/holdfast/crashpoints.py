"""Names the moments at which a process may be killed on purpose, and kills it there when asked.

`HOLDFAST_CRASH_AT=NAME` kills at the first time that the point is reached, `NAME:3` at the third.
Off, which is always outside of tests and demonstrations, a point costs one comparison.
"""

from __future__ import annotations

import os
import signal
from collections import Counter

VARIABLE = "HOLDFAST_CRASH_AT"

POINTS: dict[str, str] = {
    "batch.entered": "Spark planned the batch and called the sink; nothing of it is kept yet",
    "batch.offsets-kept": "the copy of its offsets is kept; the sink was not called",
    "sink.before-commit": "the sink was about to commit the batch",
    "sink.after-commit": "the sink committed the batch; Spark did not",
    "files.staged": "all files of the batch are staged; they may not be on the disk yet",
    "files.flushed": "the staged files are on the disk; no manifest lists them",
    "files.moved-away": "mode complete: the old output is gone, the new one not in place yet",
    "files.published-one": "the batch is committed, and one more of its files is published",
    "files.published": "every file of the batch is published, but not marked as published",
    "files.marked": "the batch is marked as published; leftovers may be in staging",
    "files.cleaned": "leftovers are removed; the sink is about to return",
    "files.fenced": "rewind: the batches are void; all their files still exist",
    "files.staging-taken-back": "rewind: nothing that is staged can be published any more",
    "files.files-taken-back": "rewind: the files are removed; their manifests still exist",
    "custom.written": "the function wrote the batch; it is not in the ledger yet",
    "postgres.staging-made": "an empty staging table exists; no row is loaded",
    "postgres.staged": "every row of the batch is in the staging table; no transaction has begun",
    "postgres.claimed": "in the transaction: the batch's ledger row is written, its rows are not",
    "postgres.moved": "in the transaction: the rows are written, their count is not yet",
    "postgres.tidied": "the batch is committed and its staging table dropped",
    "delta.before-check": "the sink has not checked yet whether the batch is in the table",
    "delta.conflict": "another writer's commit came first; nothing of the batch is committed",
    "delta.closed": "rewind: the query's name is closed; every row still exists",
    "delta.taken-back": "rewind: the rows are removed; no new name is open",
    "delta.fenced": "rewind: older generations are locked out; no new name is open",
    "jdbc.staging-made": "table, ledger and an empty staging table exist; no row is loaded",
    "jdbc.staged": "every row of the batch is in the staging table; no transaction has begun",
    "jdbc.claimed": "in the transaction: the batch's ledger row is written, its rows are not",
    "jdbc.moved": "in the transaction: the rows are written, their count is not yet",
    "jdbc.tidied": "the batch is committed and its staging table dropped",
    "batch.left": "the sink is done; Spark is about to commit",
    "plan.begun": "the journal has the plan that is applied; no step is begun",
    "plan.step-begun": "the journal says that a step begins; nothing of it is done yet",
    "plan.step-applied": "a step is done; the journal does not say so yet",
    "plan.step-done": "the journal says that a step is done; the next is not begun",
    "plan.applied": "every step is done; the act is still open in the journal",
    "plan.start-blocked": "metadata is replaced, so that no Spark starts; nothing else is changed",
    "plan.sink-confirmed": "the lease is still held, and the sink is changed next",
    "plan.sink-cleared": "the output is empty; the checkpoint still has its batches",
    "plan.sink-brought-back": "undo: the output has its rows again; no query can start yet",
    "plan.checkpoint-emptied": "every file of the checkpoint is removed; the act is still open",
    "plan.sink-rewound": "the sink gave its batches back; the journal does not say so yet",
    "plan.file-removed": "one more file of the checkpoint is removed; others of the step are not",
    "plan.start-allowed": "metadata is back: a query can start; the act is still open",
    "plan.copy-begun": "move: the new place has a metadata that no Spark starts on, and no more",
    "plan.file-copied": "move: one file is at the new place; the others are not",
    "plan.records-copied": "move: the records are at the new place; the note of the move is not",
    "plan.old-place-closed": "move: the old place says where the checkpoint is; none can start yet",
    "plan.place-remembered": "move: the project knows the new place; no query can start there yet",
    "plan.new-place-opened": "move: a query can start at the new place; the act is still open",
    "plan.backfill-prepared": "backfill: its checkpoint is written; no batch is run yet",
    "plan.backfill-fenced": "backfill: undo or giving up locked older drivers out of the sink",
    "plan.backfill-batch-committed": "backfill: one more batch is committed; others may be left",
    "plan.given-up": "backfill: the journal says where it was given up; the act is still open",
    "plan.step-undoing": "the journal says that a step is being undone; nothing of it is yet",
    "plan.step-undone": "a step is undone; the journal does not say so yet",
    "plan.undone": "every step is undone; the act is still open in the journal",
}
"""Every point, with what is true there."""

_wanted, _, _time = os.environ.get(VARIABLE, "").partition(":")
_reached: Counter[str] = Counter()


def reach(point: str) -> None:
    """Pass a point; the process dies here if that is what it was started for."""
    if _wanted and point == _wanted:
        _reached[point] += 1
        if _reached[point] == int(_time or 1):
            # Whoever asked for it can tell this end from any other.
            os.write(2, f"killed at {point}, as requested by {VARIABLE}\n".encode())
            _die()


def _die() -> None:
    """Kill as a lost machine does: a leader of a process group takes its JVM with it."""
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)
