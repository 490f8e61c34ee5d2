"""File sources (json, csv, parquet, text …): an offset is a place in the source's log of files."""

from __future__ import annotations

from typing import TypedDict

from holdfast.errors import DecodeError
from holdfast.format.sources.offset import (
    CERTAIN,
    LONG_MAX,
    NOT_MINE,
    Amount,
    Confidence,
    OffsetReader,
    Recognition,
    SourceEvidence,
    as_integer,
    as_object,
    integer_field,
    is_integer,
)
from holdfast.format.strictjson import decode_json

_WHAT = "the offset of a file source"


class FileOffset(TypedDict):
    """`logOffset` numbers the entries of `sources/<i>/`; each of them names any number of files."""

    logOffset: int


class FileOffsetReader(OffsetReader[FileOffset]):
    """Reads `{"logOffset":17}`, and the bare `17` of the oldest Sparks."""

    kind = "file"
    formats = frozenset(
        ("file", "json", "csv", "parquet", "orc", "text", "xml", "avro", "binaryfile", "libsvm")
    )

    def recognises(self, evidence: SourceEvidence) -> Recognition:
        """Be certain of a log of files, or of the one key that no other source uses alone."""
        if evidence.has_file_log:
            return Recognition(Confidence.CERTAIN, "source log")
        value = evidence.value
        return CERTAIN if isinstance(value, dict) and set(value) == {"logOffset"} else NOT_MINE

    def decode(self, text: str) -> FileOffset:
        """Decode either form to the newer one."""
        value = decode_json(text, what=_WHAT)
        if is_integer(value):
            return {"logOffset": as_integer(value, _WHAT, low=0)}
        entry = as_object(value, _WHAT)
        unknown = sorted(set(entry) - {"logOffset"})
        if unknown and "logOffset" not in entry:
            raise DecodeError("HF2106", f"{_WHAT} has {', '.join(unknown)} instead of logOffset")
        return {"logOffset": integer_field(entry, "logOffset", _WHAT, low=0, high=LONG_MAX)}

    def summary(self, decoded: FileOffset) -> str:
        """Say the place in the source's log."""
        return f"read up to entry {decoded['logOffset']:,} of its file log"

    def amount(self, before: FileOffset | None, after: FileOffset) -> Amount:
        """Count entries of the source's log; the files in them only the log itself tells."""
        start = -1 if before is None else before["logOffset"]
        steps = after["logOffset"] - start
        if steps < 0:
            return Amount("log offsets", None, note="the offset went back")
        return Amount("log offsets", steps)

    def went_back(self, before: FileOffset, after: FileOffset) -> str | None:
        """Compare the places in the log."""
        if after["logOffset"] >= before["logOffset"]:
            return None
        return f"logOffset went back from {before['logOffset']} to {after['logOffset']}"
