"""Spark's sequential union: which of several sources is being read, and which are done."""

from __future__ import annotations

from typing import TypedDict

from holdfast.errors import DecodeError
from holdfast.format.sources.offset import (
    CERTAIN,
    NOT_MINE,
    Amount,
    OffsetReader,
    Recognition,
    SourceEvidence,
    text_field,
    text_list_field,
)
from holdfast.format.strictjson import decode_object

_WHAT = "the offset of a sequential union"


class SequentialUnionOffset(TypedDict):
    """As Spark 4.2 and later write it; the sources' own offsets are entries of their own."""

    activeSourceName: str
    allSourceNames: list[str]
    completedSourceNames: list[str]


class SequentialUnionOffsetReader(OffsetReader[SequentialUnionOffset]):
    """Reads `{"activeSourceName":"live","allSourceNames":["old","live"],…}`."""

    kind = "sequential-union"
    formats = frozenset[str]()

    def recognises(self, evidence: SourceEvidence) -> Recognition:
        """Be certain of the two names together."""
        value = evidence.value
        names = {"activeSourceName", "allSourceNames"}
        return CERTAIN if isinstance(value, dict) and names <= set(value) else NOT_MINE

    def decode(self, text: str) -> SequentialUnionOffset:
        """Decode the names, and hold them to what Spark itself demands of them."""
        entry = decode_object(text, what=_WHAT)
        active = text_field(entry, "activeSourceName", _WHAT)
        every = text_list_field(entry, "allSourceNames", _WHAT)
        completed = text_list_field(entry, "completedSourceNames", _WHAT)
        if active not in every or active in completed or not set(completed) <= set(every):
            raise DecodeError("HF2106", f"{_WHAT} names sources that contradict each other")
        return {
            "activeSourceName": active,
            "allSourceNames": every,
            "completedSourceNames": completed,
        }

    def summary(self, decoded: SequentialUnionOffset) -> str:
        """Name the source that is being read."""
        done, every = len(decoded["completedSourceNames"]), len(decoded["allSourceNames"])
        return f"{done} of {every} sources done, reading {decoded['activeSourceName']}"

    def amount(self, before: SequentialUnionOffset | None, after: SequentialUnionOffset) -> Amount:
        """Say that it is the sources' own offsets which tell how much."""
        if before is not None and _state(before) == _state(after):
            return Amount("unknown", 0)
        note = "the offsets of the united sources show how much was read"
        return Amount("unknown", None, note=note)

    def went_back(self, before: SequentialUnionOffset, after: SequentialUnionOffset) -> str | None:
        """Look for a source that was done and is not any more."""
        reopened = set(before["completedSourceNames"]) - set(after["completedSourceNames"])
        return f"done before, and no longer: {', '.join(sorted(reopened))}" if reopened else None


def _state(offset: SequentialUnionOffset) -> tuple[str, frozenset[str]]:
    return offset["activeSourceName"], frozenset(offset["completedSourceNames"])
