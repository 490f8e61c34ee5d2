"""`sources/<i>/0` of sources that keep where they began: Kafka's offsets, rate's clock."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from holdfast.errors import DecodeError
from holdfast.format.logs.log import decode_text, decode_version
from holdfast.format.strictjson import decode_object

_WHAT = "initial offset"
_VERSIONS = {1: "every Spark"}
_MILLISECONDS = re.compile(r"-?[0-9]{1,19}")


@dataclass(frozen=True)
class InitialOffset:
    """Where a source began, in its own words."""

    kind: Literal["kafka", "rate", "unknown"]
    text: str
    """Kafka: JSON of the offsets; rate: milliseconds; unknown: the whole file."""


def decode_initial(data: bytes) -> InitialOffset:
    """Decode the bytes of a source's file `0`; a form that is neither is kept as unknown."""
    if data.startswith(b"\0"):
        return InitialOffset("kafka", _kafka(data[1:]))
    text = decode_text(data, _WHAT)
    version, _, rest = text.partition("\n")
    is_rate = version == "v1" and _MILLISECONDS.fullmatch(rest)
    return InitialOffset("rate", rest) if is_rate else InitialOffset("unknown", text)


def _kafka(data: bytes) -> str:
    # The zero byte before it was taken off: it is there for Spark 2.1.0, which skips one byte.
    try:
        text = decode_text(data, _WHAT)
        version, newline, rest = text.partition("\n")
        if not version.startswith("v"):
            # Spark 2.1.0 wrote no version line.
            decode_object(text, what=_WHAT, line=1)
            return text
        decode_version(version, known=_VERSIONS, what=_WHAT)
        if not newline:
            raise DecodeError("HF2106", f"{_WHAT}: it ends after the version line", line=2)
        decode_object(rest, what=_WHAT, line=2, byte=len(version) + 1)
    except DecodeError as error:
        byte = None if error.byte is None else error.byte + 1
        raise DecodeError(
            error.code.number,
            error.message,
            line=error.line,
            byte=byte,
            overlooked=error.overlooked,
        ) from error
    return rest
