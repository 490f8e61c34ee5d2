"""The rate source: an offset is the seconds since the source was first started."""

from __future__ import annotations

import re

from holdfast.format.sources.fields import (
    LONG_MAX,
    as_integer,
    as_object,
    integer_field,
    is_integer,
    is_partition,
)
from holdfast.format.sources.offset import (
    LIKELY,
    NOT_MINE,
    Amount,
    Certainty,
    OffsetReader,
    Recognition,
    SourceEvidence,
)
from holdfast.format.strictjson import decode_json
from holdfast.plurals import counted

_WHAT = "the offset of a rate source"
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
            return Recognition(Certainty.CERTAIN, "initial offset file")
        value = evidence.value
        if isinstance(value, dict) and value:
            return LIKELY if all(map(_is_continuous, value.items())) else NOT_MINE
        return NOT_MINE

    def decode(self, text: str) -> RateOffset:
        """Decode the seconds, or the partitions of continuous mode in the order of numbers."""
        value = decode_json(text, what=_WHAT)
        if is_integer(value):
            return as_integer(value, _WHAT, low=0)
        entry = as_object(value, _WHAT)
        keys = sorted(entry, key=lambda key: (len(key), key))
        return {key: _partition(entry[key], f"partition {key} in {_WHAT}") for key in keys}

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
        return Amount("rows", None, note="the partitions before this offset are not known")
    if any(after[key]["value"] < before[key]["value"] for key in after):
        return Amount("rows", None, note="the offset went back")
    step = len(after)
    parts = {key: (after[key]["value"] - before[key]["value"]) // step for key in after}
    return Amount("rows", sum(parts.values()), parts)
