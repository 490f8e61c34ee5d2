"""The part of `diff` about state: what became of the rows of each store."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from holdfast.state.results import StateRow


class Change(str, Enum):
    """What became of a row from the left to the right."""

    ADDED = "added"
    """Only the right has it."""
    CHANGED = "changed"
    """Both have it, with different values."""
    REMOVED = "removed"
    """Only the left has it."""


@dataclass(frozen=True)
class RowDifference:
    """One row that differs, as `state` shows it on either side."""

    change: Change
    """What became of it."""
    left: StateRow | None
    """None where it was added."""
    right: StateRow | None
    """None where it was removed."""


@dataclass(frozen=True)
class StoreComparison:
    """How the rows of one store, column family or state variable compare."""

    operator: int
    """The id of the operator."""
    store: str
    """The name of the store or state variable."""
    left_rows: int | None = None
    """Rows on the left; None where they were not compared."""
    right_rows: int | None = None
    """Rows on the right; None where they were not compared."""
    added: int | None = None
    """Rows that only the right has."""
    changed: int | None = None
    """Rows of keys that both have, with other values; of a list, elements at the same place."""
    removed: int | None = None
    """Rows that only the left has."""
    rows: tuple[RowDifference, ...] = ()
    """The first ones of each kind, in the order of `state`."""
    complete: bool = False
    """Every row that differs is among them."""
    not_compared: str | None = None
    """Why the rows were not compared; None where they were."""

    @property
    def identical(self) -> bool:
        """Both sides were read to the end and hold the same rows."""
        return self.not_compared is None and not (self.added or self.changed or self.removed)
