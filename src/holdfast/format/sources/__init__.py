"""What an offset of each source means, and the distance between two. Pure: no disk."""

from __future__ import annotations

from holdfast.format.sources.offset import (
    UNITS,
    Amount,
    Confidence,
    ExplainedOffset,
    OffsetReader,
    Recognition,
    SourceEvidence,
    files_amount,
    shorten,
)
from holdfast.format.sources.readers import READERS, identify, reader_of


def explain(evidence: SourceEvidence) -> ExplainedOffset:
    """Say what an offset means; DecodeError where its source is certain and the text is not its."""
    found = identify(evidence)
    decoded = found.reader.decode(evidence.text)
    return ExplainedOffset(
        kind=found.reader.kind,
        candidates=found.candidates,
        decoded=decoded,
        summary=shorten(found.reader.summary(decoded)),
        note=found.note,
        basis=found.basis,
    )


def amount_between(kind: str, before: SourceEvidence | None, after: SourceEvidence) -> Amount:
    """Measure what lies between two offsets of a kind; DecodeError where one is not of it."""
    reader = reader_of(kind)
    start = reader.beginning(after) if before is None else reader.decode(before.text)
    return reader.amount(start, reader.decode(after.text))


def went_back(kind: str, before: SourceEvidence, after: SourceEvidence) -> str | None:
    """Say in a sentence how an offset moved backwards, None if it did not; DecodeError as above."""
    reader = reader_of(kind)
    return reader.went_back(reader.decode(before.text), reader.decode(after.text))


__all__ = [
    "READERS",
    "UNITS",
    "Amount",
    "Confidence",
    "ExplainedOffset",
    "OffsetReader",
    "Recognition",
    "SourceEvidence",
    "amount_between",
    "explain",
    "files_amount",
    "went_back",
]
