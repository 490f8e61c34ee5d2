"""The rate-micro-batch source: an offset is the rows made so far and the time that they bear."""

from __future__ import annotations

from typing import TypedDict

from holdfast.format.sources.fields import integer_field
from holdfast.format.sources.offset import (
    LIKELY,
    NOT_MINE,
    Amount,
    OffsetReader,
    Recognition,
    SourceEvidence,
)
from holdfast.format.strictjson import decode_object
from holdfast.plurals import counted

_WHAT = "the offset of a rate-micro-batch source"


class RateMicroBatchOffset(TypedDict):
    """`timestamp` is the time, in milliseconds, of the next batch's rows."""

    offset: int
    timestamp: int


class RateMicroBatchOffsetReader(OffsetReader[RateMicroBatchOffset]):
    """Reads `{"offset":20,"timestamp":1767225604000}`."""

    kind = "rate-micro-batch"
    formats = frozenset(("rate-micro-batch", "ratepermicrobatchprovider"))

    def recognises(self, evidence: SourceEvidence) -> Recognition:
        """Hold exactly these two keys for likely: other sources could choose them too."""
        value = evidence.value
        fits = isinstance(value, dict) and set(value) == {"offset", "timestamp"}
        return LIKELY if fits else NOT_MINE

    def decode(self, text: str) -> RateMicroBatchOffset:
        """Decode both numbers."""
        entry = decode_object(text, what=_WHAT)
        offset = integer_field(entry, "offset", _WHAT, low=0)
        return {"offset": offset, "timestamp": integer_field(entry, "timestamp", _WHAT)}

    def summary(self, decoded: RateMicroBatchOffset) -> str:
        """Say the rows made so far."""
        return f"{counted(decoded['offset'], 'row')} made"

    def amount(self, before: RateMicroBatchOffset | None, after: RateMicroBatchOffset) -> Amount:
        """Count rows, from 0 on."""
        rows = after["offset"] - (0 if before is None else before["offset"])
        if rows < 0:
            return Amount("rows", None, note="the offset went back")
        return Amount("rows", rows)

    def went_back(self, before: RateMicroBatchOffset, after: RateMicroBatchOffset) -> str | None:
        """Compare the rows made."""
        if after["offset"] >= before["offset"]:
            return None
        return f"offset went back from {before['offset']} to {after['offset']}"
