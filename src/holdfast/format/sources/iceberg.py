"""Iceberg tables: an offset is a snapshot and the files of it that were read."""

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
    boolean_field,
    integer_field,
)
from holdfast.format.strictjson import decode_object

_WHAT = "the offset of an Iceberg source"
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
        entry = decode_object(text, what=_WHAT)
        version = integer_field(entry, "version", _WHAT)
        if version != 1:
            raise DecodeError("HF2103", f"{_WHAT} has the format version {version}, not 1")
        return {
            "version": version,
            "snapshot_id": integer_field(entry, "snapshot_id", _WHAT),
            "position": integer_field(entry, "position", _WHAT, low=-1),
            "scan_all_files": boolean_field(entry, "scan_all_files", _WHAT),
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
