"""Memory streams, used in tests: an offset is the number of the last addition."""

from __future__ import annotations

from holdfast.format.sources.fields import as_integer, as_object, is_integer, is_partition
from holdfast.format.sources.offset import (
    NOT_MINE,
    POSSIBLE,
    Amount,
    OffsetReader,
    Recognition,
    SourceEvidence,
)
from holdfast.format.strictjson import decode_json
from holdfast.plurals import counted

_WHAT = "the offset of a memory source"
_STEP = "a step is one call of addData, with any number of rows"

MemoryOffset = int | dict[str, int]


class MemoryOffsetReader(OffsetReader[MemoryOffset]):
    """Reads `12` (from -1 on), and the rows by partition of continuous and low-latency streams."""

    kind = "memory"
    formats = frozenset(("memory", "memorystream"))

    def recognises(self, evidence: SourceEvidence) -> Recognition:
        """Take a whole number, or one by partition, for possible."""
        value = evidence.value
        if evidence.initial is not None or evidence.has_file_log:
            return NOT_MINE
        if isinstance(value, dict) and value:
            fits = all(is_partition(key) and is_integer(rows) for key, rows in value.items())
            return POSSIBLE if fits else NOT_MINE
        return POSSIBLE if is_integer(value) else NOT_MINE

    def decode(self, text: str) -> MemoryOffset:
        """Decode the number, or one for every partition in their order."""
        value = decode_json(text, what=_WHAT)
        if is_integer(value):
            return as_integer(value, _WHAT, low=-1)
        entry = as_object(value, _WHAT)
        keys = sorted(entry, key=lambda key: (len(key), key))
        return {key: as_integer(entry[key], f"partition {key} in {_WHAT}", low=0) for key in keys}

    def summary(self, decoded: MemoryOffset) -> str:
        """Say the additions, or the rows."""
        if isinstance(decoded, int):
            return counted(decoded + 1, "addition")
        return f"{counted(len(decoded), 'partition')}, {counted(sum(decoded.values()), 'row')}"

    def amount(self, before: MemoryOffset | None, after: MemoryOffset) -> Amount:
        """Count additions; rows where the offset counts them."""
        if isinstance(after, int):
            start = -1 if before is None else before
            if isinstance(start, dict) or after < start:
                return Amount("steps", None, note="the offset went back")
            return Amount("steps", after - start, note=_STEP)
        start_rows = dict.fromkeys(after, 0) if before is None else before
        if isinstance(start_rows, int) or set(start_rows) != set(after):
            return Amount("rows", None, note="the partitions before this offset are not known")
        if any(after[key] < start_rows[key] for key in after):
            return Amount("rows", None, note="the offset went back")
        parts = {key: after[key] - start_rows[key] for key in after}
        return Amount("rows", sum(parts.values()), parts)

    def went_back(self, before: MemoryOffset, after: MemoryOffset) -> str | None:
        """Compare the additions, or the rows of every partition."""
        if isinstance(before, int) and isinstance(after, int):
            return f"the offset went back from {before} to {after}" if after < before else None
        if isinstance(before, int) or isinstance(after, int):
            return None
        back = [
            f"{key} from {before[key]} to {after[key]}"
            for key in after
            if key in before and after[key] < before[key]
        ]
        return f"the rows of partition {', '.join(back)} went back" if back else None
