"""What is seen of a sink before a start: where it is, which table it is, and what is in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from holdfast.ledgers.lastcommitted import LastCommitted

NO_QUERY_YET = "the checkpoint has no query id yet"


class Contents(str, Enum):
    """What is in the place that rows go to."""

    ABSENT = "absent"
    EMPTY = "empty"
    """The table or folder exists; the rows that should be in it are not."""
    ROWS = "rows"
    UNKNOWN = "unknown"
    """Not looked at, because the ledger already answers; or it could not be looked at."""

    @property
    def is_without_rows(self) -> bool:
        """Whether nothing can be there that belongs to somebody else."""
        return self in (Contents.ABSENT, Contents.EMPTY)


@dataclass(frozen=True)
class NativeSight:
    """What Spark's own sink would do with the batches of the query."""

    continues_as: str | None = None
    """The application id under which a Delta table continues the query since Holdfast took batches
    of it back: Spark's own sink would write under the old one, and be skipped."""
    lacks_log: bool = False
    """Spark's file sink keeps its log of batches here, and there is none."""
    written_ms: int | None = None
    """When Spark's file sink wrote the newest batch of its log; None where it does not say."""


@dataclass(frozen=True)
class SinkSight:
    """A sink as it is before a start; looking writes nothing."""

    held: LastCommitted
    """What it holds of the query."""
    place: str | None = None
    """The one name of the place, however it was spelled; None for a sink without a ledger."""
    incarnation: str | None = None
    """Tells a table from one that was created later in its place; None where nothing does."""
    contents: Contents = Contents.UNKNOWN
    doubt: str | None = None
    """What is strange about it, and no reason to refuse."""
    rows_up_to: int | None = None
    """The newest batch whose rows were found, where those of newer ones are missing; None where
    nothing contradicts the ledger."""
    unread: str | None = None
    """Why its rows could not be looked at; None where nobody tried, or they were."""
    generation: int = 0
    """The greatest generation that wrote the query here or took batches back: the sink refuses
    older ones."""
    forgets_after: str | None = None
    """How long it remembers the batches of a query that delivers none; None for ever."""
    may_have_forgotten: bool = False
    """Whether it may hold a batch of the query although nothing there tells of any."""
    shows_rows: bool = True
    """Whether `contents` is about the rows; False where only a ledger can be looked at."""
    is_for_development: bool = False
    """Whether nothing in it is meant to outlive the process."""
    native: NativeSight | None = None
    """None where Holdfast's own sink writes."""

    @property
    def newest_delivered(self) -> int | None:
        """The newest batch whose rows are there: a ledger alone may outlive them."""
        return None if self.contents is Contents.ABSENT else self.held.value
