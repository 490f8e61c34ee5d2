"""What differs between the states of two batches, or of two checkpoints, store by store."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from holdfast.checkpoint.picture import Picture
from holdfast.diagnosis.comparison.result import Change, RowDifference, StoreComparison
from holdfast.errors import CheckpointError, HoldfastError
from holdfast.findings import Finding, Place, Severity, named, rooted
from holdfast.state.layouts import layouts_of
from holdfast.state.loading.logs import StateLog
from holdfast.state.query.comparing import READING_BYTES, Differences, compare_states
from holdfast.state.query.values import plain_rows
from holdfast.state.reading import StateView, open_state
from holdfast.state.results import StateRow
from holdfast.storage.reading import Reader

StoreName = tuple[int, str]
"""Operator id, and the name of a store or state variable."""


@dataclass(frozen=True)
class StateAt:
    """The state of one checkpoint at one batch."""

    reader: Reader
    picture: Picture
    batch_id: int

    def stores(self, operator: int | None, store: str | None) -> list[StoreName]:
        """Name the stores that are asked for; those of Spark's own use only by their name."""
        return [
            (one, layout.name)
            for one in self.picture.layout.state.operators
            if operator in (None, one)
            for layout in layouts_of(self.picture, one, self.batch_id)
            if (store is None and not layout.internal) or store in (layout.name, layout.family)
        ]

    def view(self, operator: int | None, store: str | None) -> StateView:
        """Open one store; raise UsageError where there is none, with the names of the others."""
        return open_state(
            self.reader,
            self.picture,
            operator=operator,
            store=store,
            batch=self.batch_id,
            memory_bytes=READING_BYTES,
        )


@dataclass
class StateComparison:
    """What was found in all stores, with what came up on the way."""

    stores: list[StoreComparison] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def state_at(reader: Reader, picture: Picture, batch_id: int | None) -> StateAt | None:
    """Return the state at a batch, by default the newest committed; None where nothing is kept."""
    if not picture.layout.state.operators:
        return None
    if batch_id is None and not picture.layout.commits.ids:
        return None
    return StateAt(reader, picture, StateLog(reader, picture).committed_batch(batch_id))


def compare_stores(
    left: StateAt, right: StateAt, operator: int | None, store: str | None, most: int
) -> StateComparison:
    """Compare every store that is asked for; what cannot be read is reported.

    Of each kind `most` rows are given.
    """
    found = StateComparison()
    here, there = left.stores(operator, store), right.stores(operator, store)
    if not here and not there:
        left.view(operator, store)
    for name in dict.fromkeys([*here, *there]):
        if name not in here or name not in there:
            side = "left" if name in here else "right"
            found.stores.append(
                StoreComparison(*name, not_compared=f"it exists only on the {side}")
            )
        else:
            found.stores.append(_compared(left, right, name, most, found.findings))
    return found


def _compared(
    left: StateAt, right: StateAt, name: StoreName, most: int, findings: list[Finding]
) -> StoreComparison:
    try:
        one, other = left.view(*name), right.view(*name)
        if one.schema != other.schema or one.layout.shown != other.layout.shown:
            return StoreComparison(*name, not_compared="the columns of its rows differ")
        differences = compare_states(one, other, most=most)
    except CheckpointError as error:
        findings.append(_of_side(_unreadable(error, name), error.at or "", left, right))
        return StoreComparison(*name, not_compared=error.message)
    met = [
        _of_side(rooted(finding, place), place, left, right)
        for place, view in ((left.picture.location, one), (right.picture.location, other))
        for finding in view.findings
    ]
    findings += [finding for at, finding in enumerate(met) if finding not in met[:at]]
    return _comparison_of(name, differences)


def _of_side(finding: Finding, at: str, left: StateAt, right: StateAt) -> Finding:
    """Return a finding whose steps name the right checkpoint, where it is about that one.

    The left one is the target of the command, and named as it was given.
    """
    here, there = left.picture.location, right.picture.location
    is_there = here != there and f"{at}/".startswith(f"{there.rstrip('/')}/")
    return named(finding, there if is_there else None)


def _comparison_of(name: StoreName, found: Differences) -> StoreComparison:
    before, after = (_rows(table) for table in found.changed_first)
    rows = (
        *(RowDifference(Change.ADDED, None, row) for row in _rows(found.added_first)),
        *(RowDifference(Change.CHANGED, *pair) for pair in zip(before, after, strict=True)),
        *(RowDifference(Change.REMOVED, row, None) for row in _rows(found.removed_first)),
    )
    return StoreComparison(
        *name,
        left_rows=found.left_rows,
        right_rows=found.right_rows,
        added=found.added,
        changed=found.changed,
        removed=found.removed,
        rows=rows,
        complete=len(rows) == found.added + found.changed + found.removed,
    )


def _rows(table: pa.Table) -> list[StateRow]:
    batches = table.combine_chunks().to_batches()
    return [StateRow(**row) for batch in batches for row in plain_rows(batch)]  # type: ignore[arg-type]


def _unreadable(error: HoldfastError, name: StoreName) -> Finding:
    operator, store = name
    return Finding(
        error.code.number,
        Severity.ERROR,
        error.message,
        Place("", root=error.at) if error.at is not None else Place(f"state/{operator}"),
        {"operator": operator, "store": store},
        error.why,
        error.next_steps,
    )
