"""Recorded restarts at which the doctor's severity differs from the outcome, each with its reason.

Fatal means that the next start fails, or loses or doubles rows. What a checkpoint alone can't tell
is not fatal; where Spark went on only because of how the record was made, it stays fatal.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.checkpoint.foretelling import ASYNC, NOT_IN_THE_FOLDER, STRICTER_THAN_SPARK
from tests.restarts.loading import Truth


@dataclass(frozen=True)
class Reason:
    """Why some records of named damages are judged otherwise than they ended."""

    why: str
    damages: frozenset[str] = frozenset()
    bases: frozenset[str] = frozenset()
    releases: frozenset[str] = frozenset()
    """Each of these is empty for all."""

    def covers(self, truth: Truth) -> bool:
        """Tell whether a record is one of these."""
        release = truth.spark.rpartition(".")[0]
        return (
            (not self.damages or truth.damage in self.damages)
            and (not self.bases or truth.base in self.bases)
            and (not self.releases or release in self.releases)
        )


_PENDING = frozenset({"stateless-pending", "offsets-v2-pending"})

NOT_FATAL: tuple[Reason, ...] = (
    Reason(
        "it was written with async progress tracking and started without; with it the query goes "
        "on (4.3.0/async-goes-on), and HF2206 says what happens without",
        bases=frozenset({ASYNC}),
    ),
    Reason(
        "Spark runs the newest batch again with its recorded offsets, as after any crash: the "
        "recorded sink appends what it is given, a sink that remembers batches skips it",
        frozenset(
            {
                "all-commits-missing",
                "commits-folder-removed",
                "newest-commit-missing",
                "two-newest-commits-missing",
                "three-newest-commits-missing",
            }
        ),
    ),
    Reason(
        "what is left is the checkpoint of an earlier moment: that more was delivered only the "
        "sink tells (HF2401, HF2402, HF2411, HF2441) or the records (HF2342)",
        frozenset(
            {
                "newest-offset-and-commit-missing",
                "newest-offset-and-two-commits-missing",
                "two-newest-offsets-and-commits-missing",
                "two-newest-offsets-and-newest-commit-missing",
                "only-first-batch",
                "only-first-offset",
            }
        ),
    ),
    Reason(
        "what is left looks like a job that never ran: that it did only the sink tells (HF2401, "
        "HF2412) or the records (HF2342)",
        frozenset({"everything-removed", "only-metadata-kept", "offsets-and-commits-removed"}),
    ),
    Reason(
        "a commit written by hand is the same as one of Spark: only the sink tells that the batch "
        "is not there (HF2404, HF2414, HF2442)",
        frozenset({"commit-invented"}),
    ),
    *(
        Reason(NOT_IN_THE_FOLDER[damage], frozenset({damage}))
        for damage in (
            "operator-metadata-renamed",
            "provider-unknown",
            "second-source-removed",
            "settings-empty",
            "settings-missing",
            "settings-null",
            "state-removed",
        )
    ),
)

FATAL_ALTHOUGH_IT_WENT_ON: tuple[Reason, ...] = (
    *(
        Reason(f"no Spark writes this, and {STRICTER_THAN_SPARK[damage]}", frozenset({damage}))
        for damage in ("offset-log-fraction", "offset-metadata-array", "partitions-twice")
    ),
    Reason(
        "the record planned the same files into the same batches, which the sink skipped; with "
        "other files rows are lost (4.3.0/new-checkpoint-old-output)",
        frozenset({"everything-removed", "only-metadata-kept"}),
        frozenset({"file-sink", "compacted"}),
    ),
    Reason(
        "every batch is planned and delivered again over the same input, so that the counts come "
        "out the same; rows that are not counted are doubled (stateless/offsets-and-commits-"
        "removed), and 4.1 and later fail",
        frozenset({"offsets-and-commits-removed"}),
        releases=frozenset({"3.5", "4.0"}),
    ),
    Reason(
        "the new file was not read at all; the record compares the counts of delivered batches, "
        "and there were none",
        frozenset({"source-timestamp-ahead"}),
        frozenset({"aggregation"}),
    ),
    Reason(
        "3.5 ran the pending batch with all files, which are as many as it had been planned with "
        "here; later releases deliver rows again",
        frozenset({"offset-source-dash"}),
        _PENDING,
        frozenset({"3.5"}),
    ),
)

NO_CHECKPOINT = frozenset({"empty-folder"})
"""Not a checkpoint: the doctor refuses it with HF2001."""
