"""JSON as Spark writes it: nothing lenient on the way in, byte for byte alike on the way out."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from holdfast.errors import DecodeError
from holdfast.redaction import excerpt

_MAX_DEPTH = 200
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|.)")


class _RefusedError(Exception):
    """A part of the text that the `json` module alone would let pass."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = counts.most_common(1)[0][0]
        raise _RefusedError("HF2116", f"duplicate key {_shown(twice)} in a JSON object")
    return fields


def _fraction(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _RefusedError("HF2107", f"the number {_shown(digits)} is too large")
    return value


def _constant(name: str) -> NoReturn:
    raise _RefusedError("HF2105", f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object,
    parse_float=_fraction,
    parse_constant=_constant,
)


def decode_json(text: str, *, what: str, line: int | None = None, byte: int = 0) -> object:
    """Decode one JSON value that fills the text; `line` and `byte` say where the text begins."""
    try:
        value: object = _DECODER.decode(text)
        _refuse_odd_values(text, value)
    except json.JSONDecodeError as error:
        place = byte + len(text[: error.pos].encode("utf-8"))
        if error.msg == "Extra data":
            message = f"{what}: unexpected data after the JSON, at {_shown(text[error.pos :])}"
            # Jackson stops reading where an object ends; a bare number it would refuse.
            overlooked = text.lstrip().startswith("{")
            raise DecodeError(
                "HF2110", message, line=line, byte=place, overlooked=overlooked
            ) from error
        wrong = error.msg.removesuffix(" starting at").removesuffix(" at")
        message = f"{what}: malformed JSON, {wrong[0].lower()}{wrong[1:]}"
        raise DecodeError("HF2105", message, line=line, byte=place) from error
    except ValueError as error:
        # Python's own limit on the digits of an integer; what is malformed was caught above.
        message = f"{what}: a number has thousands of digits"
        raise DecodeError("HF2107", message, line=line, byte=byte) from error
    except _RefusedError as refused:
        message = f"{what}: {refused.message}"
        raise DecodeError(refused.code, message, line=line, byte=byte) from refused
    except RecursionError as error:
        raise DecodeError("HF2109", f"{what}: too deep", line=line, byte=byte) from error
    return value


def decode_object(
    text: str, *, what: str, line: int | None = None, byte: int = 0
) -> dict[str, object]:
    """Decode one JSON object that fills the text."""
    value = decode_json(text, what=what, line=line, byte=byte)
    if not isinstance(value, dict):
        message = f"{what}: expected a JSON object, found {kind_of(value)}"
        raise DecodeError("HF2106", message, line=line, byte=byte)
    return value


def encode_json(value: object) -> str:
    """Encode a value compactly, with the escapes that Jackson (and so Spark) uses."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    if "\\u" in text:
        # Jackson spells control characters with upper-case digits, Python with lower-case ones.
        text = _ESCAPE.sub(_as_jackson, text)
    return text


def _as_jackson(escape: re.Match[str]) -> str:
    return "\\u" + escape[0][2:].upper() if escape[0][1] == "u" else escape[0]


def kind_of(value: object) -> str:
    """Name a JSON value's kind for people."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "an object" if isinstance(value, dict) else "a list"


def _refuse_odd_values(text: str, value: object) -> None:
    if text.count("{") + text.count("[") > _MAX_DEPTH and _is_deep(value):
        raise _RefusedError("HF2109", f"nested deeper than {_MAX_DEPTH} levels")
    if "\\u" in text:
        try:
            encode_json(value).encode("utf-8")
        except UnicodeEncodeError as error:
            raise _RefusedError("HF2105", "an escape is half of a surrogate pair") from error


def _is_deep(value: object) -> bool:
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [child for item in level for child in _children(item)]
        if not level:
            return False
    return True


def _children(value: object) -> list[object]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _shown(text: str) -> str:
    return repr(excerpt(text, 40))


INT32 = (-(2**31), 2**31 - 1)
INT64 = (-(2**63), 2**63 - 1)


@dataclass
class Fields:
    """What is left of an object; every `take_…` removes one field, `rest` gives the others."""

    left: dict[str, object]
    what: str
    line: int | None = None
    byte: int = 0

    @classmethod
    def of(cls, text: str, *, what: str, line: int | None = None, byte: int = 0) -> Fields:
        """Decode the object that fills the text."""
        return cls(decode_object(text, what=what, line=line, byte=byte), what, line, byte)

    def take_integer(
        self, name: str, default: int | None = None, bounds: tuple[int, int] = INT64
    ) -> int:
        """Take an integer; a missing one is an error unless there is a default."""
        value = self._take(name, default)
        if isinstance(value, bool) or not isinstance(value, int):
            # json4s cuts a fraction off, and bits that do not fit, without a word; and it takes
            # null for a missing field.
            defaulted = value is None and default is not None
            overlooked = defaulted or isinstance(value, float)
            raise self.wrong(name, "an integer", value, overlooked=overlooked)
        if not bounds[0] <= value <= bounds[1]:
            bits = 32 if bounds == INT32 else 64
            raise self.error("HF2107", f"{name} does not fit into {bits} bits", overlooked=True)
        return value

    def take_text(self, name: str) -> str:
        """Take a string."""
        value = self._take(name, None)
        if not isinstance(value, str):
            raise self.wrong(name, "a string", value)
        return value

    def take_flag(self, name: str, default: bool | None = None) -> bool:
        """Take a boolean; a missing one is an error unless there is a default."""
        value = self._take(name, default)
        if not isinstance(value, bool):
            raise self.wrong(name, "a boolean", value)
        return value

    def take_object(self, name: str) -> dict[str, object]:
        """Take an object."""
        value = self._take(name, None)
        if not isinstance(value, dict):
            raise self.wrong(name, "an object", value)
        return value

    def take_list(self, name: str) -> list[object]:
        """Take a list."""
        value = self._take(name, None)
        if not isinstance(value, list):
            raise self.wrong(name, "a list", value)
        return value

    def take_texts(self, name: str) -> dict[str, str]:
        """Take an object whose values are all strings."""
        if self.left.get(name, "") is None:
            raise self.wrong(name, "an object", None, overlooked=True)
        texts: dict[str, str] = {}
        for key, value in self.take_object(name).items():
            if not isinstance(value, str):
                scalar = isinstance(value, bool | int | float)
                raise self.wrong(f"{name}.{key}", "a string", value, overlooked=scalar)
            texts[key] = value
        return texts

    def inner(self, name: str, value: object) -> Fields:
        """Look at a value inside of this object as an object of its own."""
        if not isinstance(value, dict):
            raise self.wrong(name, "an object", value)
        return Fields(dict(value), f"{self.what}, {name}", self.line, self.byte)

    def rest(self) -> Mapping[str, object]:
        """Return what nobody took: what a later Spark added."""
        return self.left

    def error(self, code: str, message: str, overlooked: bool = False) -> DecodeError:
        """Make an error that knows where this object begins."""
        text = f"{self.what}: {message}"
        return DecodeError(code, text, line=self.line, byte=self.byte, overlooked=overlooked)

    def wrong(
        self, name: str, expected: str, value: object, overlooked: bool = False
    ) -> DecodeError:
        """Make the error for a value of the wrong type."""
        return self.error("HF2106", f"{name} is {kind_of(value)}, not {expected}", overlooked)

    def _take(self, name: str, default: object) -> object:
        if name not in self.left:
            if default is None:
                raise self.error("HF2106", f"the field {name} is missing")
            return default
        return self.left.pop(name)
