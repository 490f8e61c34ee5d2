"""One source's offset: what is known of it, its typed fields, and what a reader can do with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Protocol, TypeGuard, TypeVar

from holdfast.errors import DecodeError
from holdfast.format.strictjson import decode_json, kind_of
from holdfast.redaction import excerpt

UNITS = (
    "records",
    "files",
    "log offsets",
    "table versions",
    "seconds",
    "rows",
    "snapshots",
    "steps",
    "unknown",
)
"""What an Amount can count. A step is whatever the source calls one; the note says what."""

SUMMARY_WIDTH = 60


class NotJson:
    """Stands in place of a value where the text of an offset is not JSON."""

    def __init__(self, reason: str) -> None:
        self.reason = reason


@dataclass(frozen=True)
class SourceEvidence:
    """Everything at hand that tells what an offset means."""

    text: str
    """The raw text of the source's line in the offsets entry."""
    initial: bytes | None = None
    """The bytes of `sources/<i>/0`, where present and small."""
    has_file_log: bool = False
    """Whether `sources/<i>/` holds a log of files."""
    provider: str | None = None
    """The provider's name that an offsets entry of version 2 may hold."""
    declared_format: str | None = None
    """The format that the user's project declares for this source."""

    @cached_property
    def value(self) -> object:
        """The JSON value of the text; a NotJson where it is none."""
        try:
            return decode_json(self.text, what="the source's offset")
        except DecodeError as error:
            return NotJson(error.message)


@dataclass(frozen=True)
class Amount:
    """How much lies between two offsets."""

    unit: str
    total: int | None
    """None where it is unknown; the note says why."""
    parts: Mapping[str, int] = field(default_factory=dict)
    """The same by partition or number; empty where the source has no parts."""
    note: str | None = None

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise ValueError(f"no such unit: {self.unit}")


@dataclass(frozen=True)
class ExplainedOffset:
    """An offset in plain words, with how we know."""

    kind: str
    candidates: tuple[str, ...]
    """Every source that the evidence fits; with several, `kind` is the likely one or unknown."""
    decoded: object
    summary: str
    note: str | None
    basis: str
    """shape, initial offset file, source log, provider or declared."""


class Confidence(IntEnum):
    """How sure a reader is that an offset is one of its kind."""

    NO = 0
    POSSIBLE = 1
    """The shape fits, and fits other sources as well."""
    LIKELY = 2
    """The shape is that of this source and of no other that we know."""
    CERTAIN = 3


@dataclass(frozen=True)
class Recognition:
    """How sure a reader is, and from what."""

    certainty: Confidence
    basis: str = "shape"


NOT_MINE = Recognition(Confidence.NO)
POSSIBLE = Recognition(Confidence.POSSIBLE)
LIKELY = Recognition(Confidence.LIKELY)
CERTAIN = Recognition(Confidence.CERTAIN)

Decoded = TypeVar("Decoded")


class OffsetReader(Protocol[Decoded]):
    """One kind of source: recognises, decodes, sums up and measures its offsets."""

    kind: str
    formats: frozenset[str]
    """The names, in small letters, under which Spark's `format()` knows this source."""
    lookalikes: tuple[str, ...] = ()
    """Other connectors whose offsets look exactly the same."""

    def recognises(self, evidence: SourceEvidence) -> Recognition:
        """Say whether this offset is one of this kind. Never raises."""
        ...

    def decode(self, text: str) -> Decoded:
        """Decode to plain JSON values with numbers as numbers; DecodeError where it is none."""
        ...

    def summary(self, decoded: Decoded) -> str:
        """Say in one short line how far the source was read."""
        ...

    def amount(self, before: Decoded | None, after: Decoded) -> Amount:
        """Measure what lies between; `before` is None for the first batch of a query."""
        ...

    def went_back(self, before: Decoded, after: Decoded) -> str | None:
        """Say in a sentence how the offset moved backwards; None if it did not."""
        ...

    def beginning(self, evidence: SourceEvidence) -> Decoded | None:  # noqa: ARG002 - most keep none
        """Decode where the first batch began, where the source keeps that; DecodeError if bad."""
        return None


def files_amount(count: int) -> Amount:
    """Make the amount of a file source once its source log has told the number of files."""
    return Amount("files", count)


def shorten(text: str, width: int = SUMMARY_WIDTH) -> str:
    """Cut a text to the width of a table cell, with an ellipsis where something is missing."""
    return excerpt(text, width)


LONG_MIN, LONG_MAX = -(2**63), 2**63 - 1
INT_MAX = 2**31 - 1


def as_object(value: object, what: str) -> dict[str, object]:
    """Take a value as a JSON object."""
    if not isinstance(value, dict):
        raise DecodeError("HF2106", f"{what} is {kind_of(value)}, not a JSON object")
    return value


def as_integer(value: object, what: str, *, low: int = LONG_MIN, high: int = LONG_MAX) -> int:
    """Take a value as a whole number within the bounds."""
    if not is_integer(value):
        raise DecodeError("HF2106", f"{what} is {kind_of(value)}, not a whole number")
    if not low <= value <= high:
        raise DecodeError("HF2107", f"{what} is {shorten(str(value), 40)}, outside {low} to {high}")
    return value


def integer_field(
    entry: dict[str, object], key: str, what: str, *, low: int = LONG_MIN, high: int = LONG_MAX
) -> int:
    """Take a field as a whole number within the bounds."""
    return as_integer(required_field(entry, key, what), f"{key} of {what}", low=low, high=high)


def boolean_field(entry: dict[str, object], key: str, what: str) -> bool:
    """Take a field as true or false."""
    value = required_field(entry, key, what)
    if not isinstance(value, bool):
        raise DecodeError("HF2106", f"{key} of {what} is {kind_of(value)}, not true or false")
    return value


def text_field(entry: dict[str, object], key: str, what: str) -> str:
    """Take a field as text."""
    return as_text(required_field(entry, key, what), f"{key} of {what}")


def text_list_field(entry: dict[str, object], key: str, what: str) -> list[str]:
    """Take a field as a list of texts."""
    value = required_field(entry, key, what)
    if not isinstance(value, list):
        raise DecodeError("HF2106", f"{key} of {what} is {kind_of(value)}, not a list")
    return [as_text(item, f"an item in {key} of {what}") for item in value]


def as_text(value: object, what: str) -> str:
    """Take a value as text."""
    if not isinstance(value, str):
        raise DecodeError("HF2106", f"{what} is {kind_of(value)}, not a string")
    return value


def required_field(entry: dict[str, object], key: str, what: str) -> object:
    """Take a field that has to be there."""
    if key not in entry:
        raise DecodeError("HF2106", f"{what} has no {key}")
    return entry[key]


def is_integer(value: object) -> TypeGuard[int]:
    """Return whether a JSON value is a whole number; true and false are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_partition(key: object) -> bool:
    """Return whether a JSON key is a partition's number as Spark writes it."""
    return (
        isinstance(key, str)
        and key.isascii()
        and key.isdigit()
        and (key == "0" or key[0] != "0")
        and len(key) <= len(str(INT_MAX))
        and int(key) <= INT_MAX
    )
