"""Completes a query of which not all was recorded, so that only what is known of it is compared."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

from holdfast.format.sources.readers import UNKNOWN
from holdfast.records.facts import OperatorFacts, QueryFacts, SourceFacts, WatermarkFacts
from holdfast.records.recordings import QueryPart

_LEGACY = "spark.sql.legacy."
_LOCAL = re.compile(r"^file:/+")
_OPERATOR_FIELDS = {
    QueryPart.KEYS: "keys",
    QueryPart.VALUES: "values",
    QueryPart.OPERATOR_SETTINGS: "settings",
    QueryPart.INPUT: "input",
    QueryPart.FUNCTIONS: "functions",
}
_SOURCE_FIELDS = {
    QueryPart.SOURCE_OPTIONS: ("options", "format", "name"),
    QueryPart.SOURCE_COLUMNS: ("columns",),
}
_QUERY_FIELDS = {
    QueryPart.FUNCTIONS: "functions",
    QueryPart.STATICS: "statics",
    QueryPart.STEPS: "steps",
    QueryPart.OUTPUT_COLUMNS: "output",
    QueryPart.OUTPUT_MODE: "output_mode",
    QueryPart.WATERMARKS: "watermarks",
}


def completed(
    stored: QueryFacts, current: QueryFacts, missing: Collection[QueryPart]
) -> QueryFacts:
    """Return a recorded query in which every part that is missing is that of the current one.

    No rule sees a difference there; that the parts were not compared is said by a rule of its own.
    Schemas of state stay empty: the checkpoint has them, and rules take them from there.
    """
    if not missing:
        return stored
    changes: dict[str, Any] = {
        name: getattr(current, name) for part, name in _QUERY_FIELDS.items() if part in missing
    }
    if QueryPart.SETTINGS in missing:
        changes["settings"] = _settings(stored.settings, current.settings)
    if QueryPart.WATERMARKS not in missing:
        changes["watermarks"] = _paired(
            stored.watermarks, current.watermarks, lambda one, now: _watermark(one, now, missing)
        )
    changes["sources"] = _paired(
        stored.sources, current.sources, lambda one, now: _source(one, now, missing)
    )
    if stored.operators is not None:
        now = {one.operator_id: one for one in current.operators or ()}
        changes["operators"] = tuple(
            _operator(one, now.get(one.operator_id), missing) for one in stored.operators
        )
    return replace(stored, **changes, unknown=current.unknown, code=current.code)


def _settings(stored: Mapping[str, str], current: Mapping[str, str]) -> dict[str, str]:
    """Return the recorded values of what is compared: an event log has every setting of SQL."""
    legacy = {name: value for name, value in stored.items() if name.startswith(_LEGACY)}
    return {name: stored.get(name, value) for name, value in current.items()} | legacy


def _paired(
    stored: tuple[Any, ...], current: tuple[Any, ...], complete: Callable[[Any, Any], Any]
) -> tuple[Any, ...]:
    """Complete each with the one at its position; another number of them is a difference."""
    if len(stored) != len(current):
        return stored
    return tuple(complete(one, now) for one, now in zip(stored, current, strict=True))


def _watermark(
    stored: WatermarkFacts, current: WatermarkFacts, missing: Collection[QueryPart]
) -> WatermarkFacts:
    column = current.column if QueryPart.WATERMARK_COLUMNS in missing else stored.column
    rows = current.rows if QueryPart.INPUT in missing else stored.rows
    return replace(stored, column=column, rows=rows)


def _source(
    stored: SourceFacts, current: SourceFacts, missing: Collection[QueryPart]
) -> SourceFacts:
    if stored.kind == UNKNOWN.kind:
        return current
    if stored.kind != current.kind:
        return stored
    fields = [name for part, names in _SOURCE_FIELDS.items() if part in missing for name in names]
    changes = {name: getattr(current, name) for name in fields}
    if _reads_the_same(stored.identity, current.identity):
        changes["identity"] = current.identity
    return replace(stored, **changes)


def _reads_the_same(stored: Mapping[str, str], current: Mapping[str, str]) -> bool:
    """Tell whether two sources read the same, where one is in the words of Spark's progress."""
    if stored == current or not {*map(str.lower, stored)} & {*map(str.lower, current)}:
        return True  # where neither is in the words of the other, a person has to confirm it
    if "path" in stored and "path" in current:
        return _is_same_path(stored["path"], current["path"])
    return _lists(stored) == _lists(current)


def _is_same_path(read: str, given: str) -> bool:
    """Tell whether Spark's full spelling of a path may be what the user gave."""
    full, short = plain_path(read), plain_path(given)
    is_relative = ":" not in given and not given.startswith("/")
    return full == short or (is_relative and full.endswith(f"/{short}"))


def plain_path(path: str) -> str:
    """Return a path without the ways to spell that it is local, and without its last slash."""
    return _LOCAL.sub("/", path.removeprefix("./")).rstrip("/")


def _lists(identity: Mapping[str, str]) -> dict[str, list[str]]:
    return {
        name.lower(): sorted(one.strip() for one in value.split(","))
        for name, value in identity.items()
    }


def _operator(
    stored: OperatorFacts, current: OperatorFacts | None, missing: Collection[QueryPart]
) -> OperatorFacts:
    if current is None or current.name != stored.name:
        return stored
    fields = [name for part, name in _OPERATOR_FIELDS.items() if part in missing]
    return replace(stored, **{name: getattr(current, name) for name in fields})
