"""Compares two checkpoints, or two batches of one, and gives the answer of `diff`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.answers import Answer, naming
from holdfast.checkpoint.picture import Picture
from holdfast.checkpoint.progress import Formats
from holdfast.checkpoint.reading import SHOWN_BATCHES, read_picture
from holdfast.diagnosis.checks.picture import check_picture
from holdfast.diagnosis.comparison.result import (
    NOT_COMPARED,
    Comparison,
    comparison_of,
    differing,
    distances,
    entry_differences,
    side_of,
)
from holdfast.errors import DecodeError, UsageError
from holdfast.findings import Finding, Place, Severity, named, rooted
from holdfast.format.logs.offsets import OffsetsEntry, decode_offsets
from holdfast.state.opened import require_state_extra
from holdfast.storage.location import place_within
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.diagnosis.comparison.state import StateAt


@dataclass(frozen=True)
class DiffOptions:
    """What of the state is to be compared."""

    from_batch: int | None = None
    """The batch on the left: by default the newest committed, or the one before the other."""
    to_batch: int | None = None
    """The batch on the right, by default the newest committed."""
    operator: int | None = None
    store: str | None = None
    rows: int = 0
    """How many rows that differ are given of each kind."""
    logs_only: bool = False


def compare_checkpoints(
    left: Reader, right: Reader, options: DiffOptions, *, formats: Formats | None = None, most: int
) -> Answer[Comparison]:
    """Compare the newest batches of two checkpoints, and their states; nothing is written."""
    one = _whole_picture(left, most)
    with naming(right.location):
        other = _whole_picture(right, most)
    found = comparison_of(one, other, formats or {})
    findings = _damage(one, other)
    if _has_state(one) and _has_state(other) and not options.logs_only:
        unread = _unread(options)
        if unread is not None:
            return Answer("diff", one.location, found, (*findings, unread))
        from holdfast.diagnosis.comparison.state import state_at

        here = state_at(left, one, options.from_batch)
        with naming(right.location):
            there = state_at(right, other, options.to_batch)
        found, findings = _with_state(found, findings, here, there, options)
    return Answer("diff", one.location, found, findings)


def compare_batches(
    reader: Reader, options: DiffOptions, *, formats: Formats | None = None
) -> Answer[Comparison]:
    """Compare two batches of one checkpoint: their entries, and the state after each."""
    picture = _whole_picture(reader)
    first, last = _two_batches(picture, options)
    one, other = _entry(reader, picture, first), _entry(reader, picture, last)
    entries = tuple(entry_differences(last, one, other)) if one and other else ()
    found = Comparison(
        left=side_of(picture, first),
        right=side_of(picture, last),
        same_query=True,
        offsets=NOT_COMPARED,
        commits=NOT_COMPARED,
        entries=entries,
        sources=distances(picture, one, other, formats or {}),
        settings=differing(_settings(one), _settings(other)),
        operators={},
        identical=not entries,
    )
    findings = _damage(picture)
    if _has_state(picture) and not options.logs_only:
        require_state_extra()
        from holdfast.diagnosis.comparison.state import StateAt

        here, there = StateAt(reader, picture, first), StateAt(reader, picture, last)
        found, findings = _with_state(found, findings, here, there, options)
    return Answer("diff", picture.location, found, findings)


def _whole_picture(reader: Reader, history: int = SHOWN_BATCHES) -> Picture:
    """Read a checkpoint to compare; raise where a part of it could not be listed or read.

    What one side does not show would look like a difference.
    """
    picture = read_picture(reader, history=history)
    if picture.access_failure is not None:
        raise picture.access_failure
    return picture


def _with_state(
    found: Comparison,
    findings: tuple[Finding, ...],
    left: StateAt | None,
    right: StateAt | None,
    options: DiffOptions,
) -> tuple[Comparison, tuple[Finding, ...]]:
    if left is None or right is None:
        return found, findings
    from holdfast.diagnosis.comparison.state import compare_stores

    state = compare_stores(left, right, options.operator, options.store, options.rows)
    stores = tuple(state.stores)
    reported = replace(
        found,
        left=replace(found.left, batch_id=left.batch_id),
        right=replace(found.right, batch_id=right.batch_id),
        stores=stores,
        identical=found.identical and all(store.identical for store in stores),
    )
    return reported, (*findings, *state.findings)


def _has_state(picture: Picture) -> bool:
    return bool(picture.layout.state.operators)


def _unread(options: DiffOptions) -> Finding | None:
    """Say that states are not compared where nothing can read them; the logs are all the same."""
    try:
        require_state_extra()
    except UsageError as error:
        if options != DiffOptions(rows=options.rows):
            raise
        number, steps = error.code.number, error.next_steps
        message = f"the states were not compared: {error.message}"
        return Finding(number, Severity.INFO, message, Place("state"), {}, error.why, steps)
    return None


def _two_batches(picture: Picture, options: DiffOptions) -> tuple[int, int]:
    """Return the batches to compare: by default the newest committed, with the one before."""
    ids = picture.layout.commits.ids
    for batch in (options.from_batch, options.to_batch):
        if batch is not None and batch not in ids:
            kept = f"{ids[0]} to {ids[-1]}" if ids else "none"
            message = f"batch {batch} is not committed; committed batches: {kept}"
            raise UsageError("HF2791", message, at=picture.location)
    last = options.to_batch if options.to_batch is not None else max(ids, default=None)
    before = [one for one in ids if last is not None and one < last]
    first = options.from_batch if options.from_batch is not None else max(before, default=None)
    if first is None or last is None:
        message = "there are no two committed batches to compare"
        raise UsageError("HF2791", message, at=picture.location)
    return first, last


def _entry(reader: Reader, picture: Picture, batch_id: int) -> OffsetsEntry | None:
    """Return the plan of a batch that may be older than what the picture holds."""
    item = picture.layout.offsets.files.get(batch_id)
    if item is None or batch_id in picture.offsets or picture.refused(item.path):
        return picture.offsets.get(batch_id)
    try:
        return decode_offsets(reader.read(item.path))
    except DecodeError as error:
        error.at = place_within(reader.location, item.path)
        raise


def _settings(entry: OffsetsEntry | None) -> Mapping[str, str]:
    return entry.metadata.settings if entry is not None and entry.metadata is not None else {}


def _damage(*pictures: Picture) -> tuple[Finding, ...]:
    """Damage on either side makes the comparison incomplete, so it is reported with it.

    The target of the command is the first; what is advised about the second names that one.
    """
    return tuple(
        rooted(
            named(finding, None if picture is pictures[0] else picture.location), picture.location
        )
        for picture in pictures
        for finding in check_picture(picture)
        if finding.code.startswith("HF21")
    )
