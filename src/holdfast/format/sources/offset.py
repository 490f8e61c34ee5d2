"""What is known of one source's offset, and what a reader of a kind of source can do with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import Protocol, TypeVar

from holdfast.errors import DecodeError
from holdfast.format.strictjson import decode_json
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
    """None when it can't be told; the note says why."""
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


class Certainty(IntEnum):
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

    certainty: Certainty
    basis: str = "shape"


NOT_MINE = Recognition(Certainty.NO)
POSSIBLE = Recognition(Certainty.POSSIBLE)
LIKELY = Recognition(Certainty.LIKELY)
CERTAIN = Recognition(Certainty.CERTAIN)

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
