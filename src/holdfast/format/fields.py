"""The fields of one JSON object, taken one by one with their types checked; the rest is kept."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from holdfast.errors import DecodeError
from holdfast.format.strictjson import decode_object, kind_of

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
        """Give what nobody took: what a later Spark added."""
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
