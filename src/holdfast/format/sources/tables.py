"""Tables of Delta and Iceberg: an offset is a version or a snapshot, and what of it was read."""

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


_WHAT_ICEBERG = "the offset of an Iceberg source"
_NO_SNAPSHOT = -1


class IcebergOffset(TypedDict):
    """As Iceberg writes it. `position` counts the files of the snapshot that were read."""

    version: int
    snapshot_id: int
    position: int
    scan_all_files: bool


class IcebergOffsetReader(OffsetReader[IcebergOffset]):
    """Reads `{"version":1,"snapshot_id":7,"position":3,"scan_all_files":false}`."""

    kind = "iceberg"
    formats = frozenset(("iceberg", "icebergsource"))

    def recognises(self, evidence: SourceEvidence) -> Recognition:
        """Be certain of the two names together, which nobody else uses."""
        value = evidence.value
        names = {"snapshot_id", "scan_all_files"}
        return CERTAIN if isinstance(value, dict) and names <= set(value) else NOT_MINE

    def decode(self, text: str) -> IcebergOffset:
        """Decode all four fields."""
        entry = decode_object(text, what=_WHAT_ICEBERG)
        version = integer_field(entry, "version", _WHAT_ICEBERG)
        if version != 1:
            raise DecodeError("HF2103", f"{_WHAT_ICEBERG} has the format version {version}, not 1")
        return {
            "version": version,
            "snapshot_id": integer_field(entry, "snapshot_id", _WHAT_ICEBERG),
            "position": integer_field(entry, "position", _WHAT_ICEBERG, low=-1),
            "scan_all_files": boolean_field(entry, "scan_all_files", _WHAT_ICEBERG),
        }

    def summary(self, decoded: IcebergOffset) -> str:
        """Say the snapshot and the files of it."""
        if decoded["snapshot_id"] == _NO_SNAPSHOT:
            return "before the first snapshot"
        return f"snapshot {decoded['snapshot_id']}, {decoded['position']:,} of its files"

    def amount(self, before: IcebergOffset | None, after: IcebergOffset) -> Amount:
        """Count files within one snapshot; how many snapshots lie between only the table tells."""
        if before is None:
            note = "where the first batch began is in a file in sources/ that is not read"
            return Amount("snapshots", None, note=note)
        if before == after:
            return Amount("snapshots", 0)
        if not _same_scan(before, after):
            note = "only the table knows how many snapshots are in between"
            return Amount("snapshots", None, note=note)
        files = after["position"] - before["position"]
        if files < 0:
            return Amount("files", None, note="the offset went back")
        return Amount("files", files)

    def went_back(self, before: IcebergOffset, after: IcebergOffset) -> str | None:
        """Compare positions within one snapshot; ids of snapshots have no order."""
        if not _same_scan(before, after) or after["position"] >= before["position"]:
            return None
        positions = f"{before['position']} to {after['position']}"
        return f"position went back from {positions} in snapshot {after['snapshot_id']}"


def _same_scan(before: IcebergOffset, after: IcebergOffset) -> bool:
    same_snapshot = before["snapshot_id"] == after["snapshot_id"]
    return same_snapshot and before["scan_all_files"] == after["scan_all_files"]
