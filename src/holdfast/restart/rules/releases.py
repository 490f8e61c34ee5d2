"""The release of Spark against the one of the last run."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.restart.rules.rule import on_history
from holdfast.restart.start import QueryPair
from holdfast.restart.verdict import Change, Verdict


@on_history("HF3143")
def spark_release(pair: QueryPair) -> Iterator[Change]:
    """Show another release; what it can't read of the checkpoint is found by other rules."""
    old, new = pair.before.spark, pair.now.spark
    if pair.is_other_release:
        why = "what the release does with this checkpoint is in the next start"
        yield Change("HF3143", Verdict.SAFE, "Spark", old, new, why)
