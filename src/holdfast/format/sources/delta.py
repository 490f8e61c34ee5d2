"""Delta tables: an offset is a place in the table's versions, or in its first snapshot."""

from __future__ import annotations

from typing import TypedDict, cast

from holdfast.errors import DecodeError
from holdfast.format.sources.offset import (
    CERTAIN,
    NOT_MINE,
    Amount,
    OffsetReader,
    Recognition,
    SourceEvidence,
    boolean_field,
    integer_field,
    text_field,
)
from holdfast.format.strictjson import decode_object

_WHAT = "the offset of a Delta source"
_KNOWN_VERSIONS = (1, 3)
"""Of Delta's offset format; 2 is reserved and never written."""

STORED_BASE = -1
"""The index that says: nothing of this table version yet, all of the versions before it."""
_BASE = -100
"""How Delta orders it: before the indexes of a schema change."""
SCHEMA_CHANGE, AFTER_SCHEMA_CHANGE = -20, -19


class DeltaOffset(TypedDict):
    """As Delta writes it. `isStartingVersion` says: reading the table as it was at the start."""

    sourceVersion: int
    reservoirId: str
    reservoirVersion: int
    index: int
    isStartingVersion: bool


class DeltaOffsetReader(OffsetReader[DeltaOffset]):
    """Reads `{"sourceVersion":1,"reservoirId":"…","reservoirVersion":8,"index":-1,…}`.

    The end of table version n is stored as version n + 1 with index -1.
    """

    kind = "delta"
    formats = frozenset(("delta", "deltadatasource"))

    def recognises(self, evidence: SourceEvidence) -> Recognition:
        """Be certain of the name that Delta gave to a table's id and nobody else did."""
        value = evidence.value
        return CERTAIN if isinstance(value, dict) and "reservoirId" in value else NOT_MINE

    def decode(self, text: str) -> DeltaOffset:
        """Decode all five fields; what else a newer Delta wrote is kept."""
        entry = decode_object(text, what=_WHAT)
        version = integer_field(entry, "sourceVersion", _WHAT)
        if version not in _KNOWN_VERSIONS:
            raise DecodeError("HF2103", f"{_WHAT} has the format version {version}, not 1 or 3")
        text_field(entry, "reservoirId", _WHAT)
        integer_field(entry, "reservoirVersion", _WHAT, low=0)
        integer_field(entry, "index", _WHAT, low=_BASE)
        boolean_field(entry, "isStartingVersion", _WHAT)
        return cast("DeltaOffset", entry)

    def summary(self, decoded: DeltaOffset) -> str:
        """Say the last table version that was read, and whether whole."""
        version, index = _place(decoded)
        if index == _BASE:
            return f"all of table version {version - 1:,}" if version else "before table version 0"
        if index == SCHEMA_CHANGE:
            return f"at the schema change in table version {version:,}"
        if index == AFTER_SCHEMA_CHANGE:
            return f"just after the schema change in table version {version:,}"
        if decoded["isStartingVersion"]:
            return f"first snapshot (table version {version:,}), file index {index:,}"
        return f"part of table version {version:,}, file index {index:,}"

    def amount(self, before: DeltaOffset | None, after: DeltaOffset) -> Amount:
        """Count the table versions that were touched; the note tells of those read in part."""
        if before is None:
            note = "the checkpoint does not keep where the first batch began"
            return Amount("table versions", None, note=note)
        if before["reservoirId"] != after["reservoirId"]:
            return Amount("table versions", None, note="the two offsets belong to different tables")
        if self.went_back(before, after):
            return Amount("table versions", None, note="the offset went back")
        if _place(before) == _place(after):
            return Amount("table versions", 0)
        first, (last, index) = before["reservoirVersion"], _place(after)
        total = last - first + (0 if index == _BASE else 1)
        return Amount("table versions", total, note=_partly(before, after))

    def went_back(self, before: DeltaOffset, after: DeltaOffset) -> str | None:
        """Refuse what Delta refuses: version, index or the first snapshot's flag moving back."""
        if before["reservoirId"] != after["reservoirId"]:
            return None
        if after["isStartingVersion"] and not before["isStartingVersion"]:
            return "the offset went back into the table's first snapshot"
        (old, old_index), (new, new_index) = _place(before), _place(after)
        if new < old:
            return f"reservoirVersion went back from {old} to {new}"
        if new == old and new_index < old_index:
            indexes = f"{before['index']} to {after['index']}"
            return f"index went back from {indexes} in table version {new}"
        return None


def _place(offset: DeltaOffset) -> tuple[int, int]:
    index = offset["index"]
    return offset["reservoirVersion"], _BASE if index == STORED_BASE else index


def _partly(before: DeltaOffset, after: DeltaOffset) -> str | None:
    (old, old_index), (new, new_index) = _place(before), _place(after)
    snapshot = "the first snapshot" if before["isStartingVersion"] else f"table version {old}"
    if old == new:
        return f"only a part of {snapshot}: index {before['index']} to {after['index']}"
    notes = []
    if old_index != _BASE:
        notes.append(f"of {snapshot} only the rest")
    if new_index != _BASE:
        notes.append(f"of table version {new} only a part")
    return ", ".join(notes) or None
