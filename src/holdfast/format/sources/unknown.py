"""Offsets of sources that we do not know: shown as they are, with what the shape tells."""

from __future__ import annotations

import json
from collections.abc import Iterator

from holdfast.format.sources.connectors import recognise_connector
from holdfast.format.sources.fields import is_integer
from holdfast.format.sources.offset import (
    NOT_MINE,
    Amount,
    NotJson,
    OffsetReader,
    Recognition,
    SourceEvidence,
)

_DIFFERENCES = "parts are differences of numbers in the offset; what they count the source knows"


class UnknownOffsetReader(OffsetReader[object]):
    """Shows any JSON value, and text that is not even JSON."""

    kind = "unknown"
    formats = frozenset[str]()

    def recognises(self, evidence: SourceEvidence) -> Recognition:  # noqa: ARG002 - claims none
        """Claim nothing: this reader is what remains when no other one is sure."""
        return NOT_MINE

    def decode(self, text: str) -> object:
        """Decode JSON; give other text as it is, because a custom source may write any."""
        value = SourceEvidence(text).value
        # A null stays text too: None would say that there is no offset.
        return text if value is None or isinstance(value, NotJson) else value

    def summary(self, decoded: object) -> str:
        """Name the likely connector and its position, else the fields."""
        connector = recognise_connector(decoded)
        if connector is not None:
            return f"{connector.name}? {connector.position(decoded)}"
        return show_value(decoded)

    def amount(self, before: object | None, after: object) -> Amount:
        """Give the differences of the numbers in both, and no total."""
        return difference(before, after)

    def went_back(self, before: object, after: object) -> str | None:
        """Compare bare numbers: every source that is known to write them only counts up."""
        if not (is_integer(before) and is_integer(after)):
            return None
        return f"the offset went back from {before} to {after}" if after < before else None


def show_value(value: object) -> str:
    """Write a JSON value for people: `number: 12, note: …`."""
    if isinstance(value, dict) and value:
        return ", ".join(f"{key}: {_compact(inner)}" for key, inner in value.items())
    return _compact(value)


def difference(before: object | None, after: object) -> Amount:
    """Measure what a source of unknown meaning moved by."""
    if before is None:
        return Amount("unknown", None, note="there is no offset before this one")
    if _canonical(before) == _canonical(after):
        return Amount("unknown", 0)
    old, new = dict(_numbers(before)), dict(_numbers(after))
    parts = {path: new[path] - old[path] for path in new if path in old}
    note = _DIFFERENCES if parts else "no number is in both offsets"
    return Amount("unknown", None, parts, note)


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _compact(value: object) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _numbers(value: object, path: str = "") -> Iterator[tuple[str, int]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _numbers(inner, f"{path}.{key}" if path else key)
    elif is_integer(value):
        yield path or "value", value
