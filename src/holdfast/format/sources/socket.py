"""The socket source: an offset is the number of the last line that was received."""

from __future__ import annotations

from holdfast.errors import DecodeError
from holdfast.format.sources.fields import as_integer, is_integer
from holdfast.format.sources.offset import (
    NOT_MINE,
    POSSIBLE,
    Amount,
    OffsetReader,
    Recognition,
    SourceEvidence,
)
from holdfast.format.strictjson import decode_json, kind_of
from holdfast.plurals import counted

_WHAT = "the offset of a socket source"

SocketOffset = int | list[int]


class SocketOffsetReader(OffsetReader[SocketOffset]):
    """Reads `12` (from -1 on), and the continuous mode's lines by partition: `[6,6]`."""

    kind = "socket"
    formats = frozenset(("socket", "textsocketsourceprovider"))

    def recognises(self, evidence: SourceEvidence) -> Recognition:
        """Take any whole number, or list of them, for possible; this source keeps nothing else."""
        value = evidence.value
        if evidence.initial is not None or evidence.has_file_log:
            return NOT_MINE
        fits = is_integer(value) or (isinstance(value, list) and all(map(is_integer, value)))
        return POSSIBLE if fits else NOT_MINE

    def decode(self, text: str) -> SocketOffset:
        """Decode the number, or one for every partition."""
        value = decode_json(text, what=_WHAT)
        if isinstance(value, list):
            return [as_integer(item, f"a partition in {_WHAT}", low=0) for item in value]
        if isinstance(value, dict):
            raise DecodeError("HF2106", f"{_WHAT} is {kind_of(value)}, not a whole number")
        return as_integer(value, _WHAT, low=-1)

    def summary(self, decoded: SocketOffset) -> str:
        """Say the lines received since the source was started."""
        return f"{counted(_lines(decoded), 'line')} received"

    def amount(self, before: SocketOffset | None, after: SocketOffset) -> Amount:
        """Count lines; in continuous mode by partition."""
        if isinstance(after, int):
            lines = _lines(after) - (0 if before is None else _lines(before))
            known = lines >= 0
            return Amount("rows", lines if known else None, note=None if known else _BACK)
        start = [0] * len(after) if before is None else before
        if isinstance(start, int) or len(start) != len(after):
            return Amount("rows", None, note="the partitions before this offset are not known")
        if any(new < old for old, new in zip(start, after, strict=True)):
            return Amount("rows", None, note=_BACK)
        pairs = enumerate(zip(start, after, strict=True))
        parts = {str(number): new - old for number, (old, new) in pairs}
        return Amount("rows", sum(parts.values()), parts)

    def went_back(self, before: SocketOffset, after: SocketOffset) -> str | None:
        """Compare the lines received."""
        old, new = _lines(before), _lines(after)
        return f"the lines received went back from {old} to {new}" if new < old else None


_BACK = "the offset went back: the source was started anew"


def _lines(offset: SocketOffset) -> int:
    return offset + 1 if isinstance(offset, int) else sum(offset)
