"""The sink against the checkpoint: nothing lost, nothing doubled, and the same sink."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.diagnosis.checks.sink.sparkfiles import CLOCK_TOLERANCE_MS
from holdfast.diagnosis.inspection.sink.gone import SinkCompared
from holdfast.findings import Finding, Place, Severity
from holdfast.ledgers.sinkstate import SinkAnswer
from holdfast.restart.rules.rule import on_checkpoint
from holdfast.restart.start import StartFacts
from holdfast.wording import counted

_HERE = Place("")


@on_checkpoint("HF3021", "HF3022", "HF3024")
def native_sink(start: StartFacts) -> Iterator[Finding]:
    """Refuse where Spark's own sink would lose rows; report where its batches are unknown."""
    native, passed = start.sight.native, start.inspection.batches.passed_over
    if native is None:
        return
    if native.continues_as is not None:
        message = (
            f"Holdfast took batches of this query back from {start.sight.place}, which continues "
            f"it as {native.continues_as}; Spark's own sink would write as "
            f"{start.inspection.query_id}"
        )
        yield Finding("HF3021", Severity.FATAL, message, _HERE)
    elif native.lacks_log and passed is not None:
        message = (
            f"the checkpoint committed batch {passed}; {start.sight.place} has no _spark_metadata"
        )
        yield Finding("HF3022", Severity.FATAL, message, _HERE, {"committed": passed})
    elif (
        start.sink.answer is SinkAnswer.UNKNOWN and start.sight.place is None and not start.is_fresh
    ):
        pending = start.inspection.batches.pending
        message = f"what the sink holds of this query cannot be determined: {start.sink.basis}"
        if pending is not None:
            message += f"; batch {pending} is pending and is written again"
        severity = Severity.INFO if pending is None else Severity.WARNING
        yield Finding("HF3024", severity, message, _HERE, {"pending": pending})


@on_checkpoint("HF3005")
def sink_ahead(start: StartFacts) -> Iterator[Finding]:
    """Refuse where the sink holds a batch that this checkpoint would plan again."""
    planned = start.inspection.batches.last_planned
    held = start.sink.value
    is_ahead = held is not None and held > (-1 if planned is None else planned)
    if is_ahead or start.sink.closed:
        shown = "none" if planned is None else f"batch {planned}"
        has = f"holds batch {held}" if is_ahead else "is closed for this query"
        message = f"the sink {has}; the newest that the checkpoint knows is {shown}"
        evidence = {"sink": held, "planned": planned, "basis": start.sink.basis}
        yield Finding("HF3005", Severity.FATAL, message, _HERE, evidence)


@on_checkpoint("HF3005")
def foreign_log(start: StartFacts) -> Iterator[Finding]:
    """Refuse where the log of Spark's file sink has the newest batch of another checkpoint.

    The log names no query, but says when it was written: before this checkpoint planned the batch.
    """
    written = None if start.sight.native is None else start.sight.native.written_ms
    planned, held = start.inspection.batches.last_planned, start.sink.value
    planned_ms = start.inspection.batch_timestamp_ms
    if written is None or planned is None or held != planned or planned_ms is None:
        return
    if written + CLOCK_TOLERANCE_MS < planned_ms:
        message = (
            f"the sink wrote its entry of batch {held} {(planned_ms - written) // 1000:,} s before "
            "this checkpoint planned that batch: it is of another checkpoint"
        )
        evidence = {"sink": held, "planned": planned, "written_ms": written}
        yield Finding("HF3005", Severity.FATAL, message, _HERE, evidence)


@on_checkpoint(
    "HF3013", "HF3014", "HF3015", "HF3016", "HF3017", "HF3018", "HF3019", "HF3020", "HF3023"
)
def sink_gone(start: StartFacts) -> Iterator[Finding]:
    """Refuse where the output of delivered batches is gone, or the sink is another one.

    A pending batch counts where the ledger holds it: it would be skipped when it runs again.
    """
    passed = start.inspection.batches.passed_over
    if start.inspection.query_id is not None and (passed, start.sink.value) != (None, None):
        compared = SinkCompared(
            start.sight, start.before, passed, start.mode == "complete", start.sink_queries
        )
        yield from compared.findings()


@on_checkpoint("HF3006")
def sink_behind(start: StartFacts) -> Iterator[Finding]:
    """Refuse where the checkpoint takes batches for delivered that the sink does not hold."""
    delivered = start.inspection.batches.passed_over
    held, found = start.sink.value, start.sight.rows_up_to
    evidence = {"sink": held, "committed": delivered, "basis": start.sink.basis}
    if delivered is not None and held is not None and held < delivered:
        message = f"the checkpoint committed batch {delivered}; the sink holds only up to {held}"
        yield Finding("HF3006", Severity.ERROR, message, _HERE, evidence)
    elif held is not None and found is not None:
        message = f"the sink's ledger holds batch {held}; the newest whose files exist is {found}"
        yield Finding("HF3006", Severity.ERROR, message, _HERE, evidence | {"found": found})


@on_checkpoint("HF3007")
def foreign_sink(start: StartFacts) -> Iterator[Finding]:
    """Refuse a new checkpoint on a sink that another query filled."""
    if start.is_fresh and start.sink.value is None and start.foreign_queries:
        others = sorted(start.foreign_queries)
        message = f"the sink holds batches of {counted(len(others), 'other query')}"
        yield Finding("HF3007", Severity.ERROR, message, _HERE, {"query_ids": others[:10]})
