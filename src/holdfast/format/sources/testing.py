"""Spark's sources for tests: rate, rate-micro-batch, socket and memory."""

from __future__ import annotations

import re
from typing import TypedDict

from holdfast.errors import DecodeError
from holdfast.format.sources.offset import (
    LIKELY,
    LONG_MAX,
    NOT_MINE,
    POSSIBLE,
    Amount,
    Confidence,
    OffsetReader,
    Recognition,
    SourceEvidence,
    as_integer,
    as_object,
    integer_field,
    is_integer,
    is_partition,
)
from holdfast.format.strictjson import decode_json, decode_object, kind_of
from holdfast.wording import counted

_RATE = "the offset of a rate source"
_CREATION = re.compile(rb"v[0-9]+\n[0-9]+")
_CONTINUOUS_KEYS = {"value", "runTimeMs"}

RateOffset = int | dict[str, dict[str, int]]


class RateOffsetReader(OffsetReader[RateOffset]):
    """Reads `83`, and the continuous mode's `{"0":{"value":6,"runTimeMs":1794793888797}}`.

    In continuous mode `value` is the last number that a partition gave out; with n partitions
    each of them gives out every n-th number.
    """

    kind = "rate"
    formats = frozenset(("rate", "ratestreamprovider"))

    def recognises(self, evidence: SourceEvidence) -> Recognition:
        """Be certain of the time of creation in `sources/<i>/0`, which only this source keeps."""
        if evidence.initial is not None and _CREATION.fullmatch(evidence.initial):
            return Recognition(Confidence.CERTAIN, "initial offset file")
        value = evidence.value
        if isinstance(value, dict) and value:
            return LIKELY if all(map(_is_continuous, value.items())) else NOT_MINE
        return NOT_MINE

    def decode(self, text: str) -> RateOffset:
        """Decode the seconds, or the partitions of continuous mode in the order of numbers."""
        value = decode_json(text, what=_RATE)
        if is_integer(value):
            return as_integer(value, _RATE, low=0)
        entry = as_object(value, _RATE)
        keys = sorted(entry, key=lambda key: (len(key), key))
        return {key: _partition(entry[key], f"partition {key} in {_RATE}") for key in keys}

    def summary(self, decoded: RateOffset) -> str:
        """Say the seconds, or the highest number given out."""
        if isinstance(decoded, int):
            return f"{counted(decoded, 'second')} after the first start"
        highest = max((partition["value"] for partition in decoded.values()), default=-1)
        return f"{counted(len(decoded), 'partition')}, last value {highest:,}"

    def amount(self, before: RateOffset | None, after: RateOffset) -> Amount:
        """Count seconds, which start at 0; in continuous mode rows, by partition."""
        if isinstance(after, int):
            start = 0 if before is None else before
            if isinstance(start, dict):
                return Amount("seconds", None, note="the query changed from continuous mode")
            if after < start:
                return Amount("seconds", None, note="the offset went back")
            return Amount("seconds", after - start)
        return _rows(before, after)

    def went_back(self, before: RateOffset, after: RateOffset) -> str | None:
        """Compare seconds, or the values of every partition."""
        if isinstance(before, int) and isinstance(after, int):
            return f"the second went back from {before} to {after}" if after < before else None
        if isinstance(before, int) or isinstance(after, int):
            return None
        back = [
            f"{key} from {before[key]['value']} to {after[key]['value']}"
            for key in after
            if key in before and after[key]["value"] < before[key]["value"]
        ]
        return f"the value of partition {', '.join(back)} went back" if back else None


def _is_continuous(item: tuple[object, object]) -> bool:
    key, value = item
    return is_partition(key) and isinstance(value, dict) and set(value) == _CONTINUOUS_KEYS


def _partition(value: object, what: str) -> dict[str, int]:
    entry = as_object(value, what)
    return {
        "value": integer_field(entry, "value", what),
        "runTimeMs": integer_field(entry, "runTimeMs", what, low=0, high=LONG_MAX),
    }


def _rows(before: RateOffset | None, after: dict[str, dict[str, int]]) -> Amount:
    if not isinstance(before, dict) or set(before) != set(after):
        return Amount("rows", None, note="the partitions before this offset are unknown")
    if any(after[key]["value"] < before[key]["value"] for key in after):
        return Amount("rows", None, note="the offset went back")
    step = len(after)
    parts = {key: (after[key]["value"] - before[key]["value"]) // step for key in after}
    return Amount("rows", sum(parts.values()), parts)


_RATE_MICRO_BATCH = "the offset of a rate-micro-batch source"


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
        entry = decode_object(text, what=_RATE_MICRO_BATCH)
        offset = integer_field(entry, "offset", _RATE_MICRO_BATCH, low=0)
        return {"offset": offset, "timestamp": integer_field(entry, "timestamp", _RATE_MICRO_BATCH)}

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


_SOCKET = "the offset of a socket source"

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
        value = decode_json(text, what=_SOCKET)
        if isinstance(value, list):
            return [as_integer(item, f"a partition in {_SOCKET}", low=0) for item in value]
        if isinstance(value, dict):
            raise DecodeError("HF2106", f"{_SOCKET} is {kind_of(value)}, not a whole number")
        return as_integer(value, _SOCKET, low=-1)

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
            return Amount("rows", None, note="the partitions before this offset are unknown")
        if any(new < old for old, new in zip(start, after, strict=True)):
            return Amount("rows", None, note=_BACK)
        pairs = enumerate(zip(start, after, strict=True))
        parts = {str(number): new - old for number, (old, new) in pairs}
        return Amount("rows", sum(parts.values()), parts)

    def went_back(self, before: SocketOffset, after: SocketOffset) -> str | None:
        """Compare the lines received."""
        old, new = _lines(before), _lines(after)
        return f"the lines received went back from {old} to {new}" if new < old else None


_BACK = "the offset went back: the source was restarted"


def _lines(offset: SocketOffset) -> int:
    return offset + 1 if isinstance(offset, int) else sum(offset)


_MEMORY = "the offset of a memory source"
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
        value = decode_json(text, what=_MEMORY)
        if is_integer(value):
            return as_integer(value, _MEMORY, low=-1)
        entry = as_object(value, _MEMORY)
        keys = sorted(entry, key=lambda key: (len(key), key))
        return {key: as_integer(entry[key], f"partition {key} in {_MEMORY}", low=0) for key in keys}

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
            return Amount("rows", None, note="the partitions before this offset are unknown")
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
