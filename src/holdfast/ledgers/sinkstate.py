"""What a sink tells before a start: its last committed batch, its offsets, its contents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from enum import Enum

from holdfast.errors import HoldfastError, SinkError
from holdfast.ledgers.identity import query_of

_DENIED = "HF7002"


class SinkAnswer(str, Enum):
    """How a sink answers when it is asked for the newest batch of a query."""

    BATCH = "batch"
    NOTHING = "nothing"
    """It was asked, and holds no batch of this query."""
    UNKNOWN = "unknown"
    """It could not be asked, or keeps no record of batches."""


@dataclass(frozen=True)
class LastCommitted:
    """The newest batch that a sink holds of a query."""

    value: int | None
    """The batch id, None where the sink holds none or does not tell."""
    basis: str
    """How it is known, or why not."""
    closed: bool = False
    """The sink takes nothing more of the query: its batches are being taken back, or were."""
    answered: bool = False
    """The sink was asked and answered: without a value it holds no batch of the query."""

    @classmethod
    def batch(cls, batch_id: int, basis: str) -> LastCommitted:
        """Return the answer of a sink that holds the query up to this batch."""
        return cls(batch_id, basis, answered=True)

    @classmethod
    def nothing(cls, basis: str) -> LastCommitted:
        """Return the answer of a sink that was asked and holds no batch of the query."""
        return cls(None, basis, answered=True)

    @classmethod
    def unknown(cls, basis: str) -> LastCommitted:
        """Return the answer of a sink that could not be asked, or keeps no record of batches."""
        return cls(None, basis)

    @property
    def answer(self) -> SinkAnswer:
        """Which of the three answers this is."""
        if self.value is not None:
            return SinkAnswer.BATCH
        return SinkAnswer.NOTHING if self.answered else SinkAnswer.UNKNOWN


def cannot_be_asked(shown: str | None, error: HoldfastError) -> SinkError:
    """Return the error of a sink that something keeps from answering.

    Where access was denied, that says best what is missing: reading, or writing.
    """
    message, at = f"{shown} can't be asked: {error.message}", error.at or shown
    if error.code.number != _DENIED:
        return SinkError("HF5009", message, at=at)
    return SinkError("HF5009", message, at=at, why=error.why, next_steps=error.next_steps)


def refuse_other_queries(
    held: Collection[str], queries: Collection[str] | None, shown: str | None
) -> None:
    """Raise HF5011 where a sink that is to be cleared holds batches of a query that is not meant.

    `queries` are meant; None: the only one that is there.
    """
    # What a backfill wrote is its query's.
    held = {query_of(one) for one in held}
    strange = sorted(set(held) - set(held if queries is None else queries))
    if queries is None and len(held) > 1:
        strange = sorted(held)
    if not strange:
        return
    message = f"{shown} also has batches of {' and '.join(strange[:3])}"
    if queries is None:
        message = f"{shown} has batches of several queries: {', '.join(strange[:3])}"
    why = "clearing removes every row, also those of the other query, which would never come back"
    named = " ".join(f"--clear-query {one}" for one in strange)
    steps = (
        "give the job an output of its own: holdfast plan reset TARGET --output keep-new:PATH",
        f"or, if these rows may go too: holdfast plan reset TARGET --output clear {named}",
    )
    raise SinkError("HF5011", message, at=shown, why=why, next_steps=steps)


@dataclass(frozen=True)
class CommittedOffsets:
    """What a sink's ledger has of one batch; *not there* is another answer than *unknown*."""

    held: bool | None
    """None where it cannot be determined."""
    digest: str | None = None
    """The stored digest; None where the batch is not there or its offsets are not known."""


UNKNOWN = CommittedOffsets(None)
NOT_COMMITTED = CommittedOffsets(False)

OffsetsOf = Callable[[str, int], CommittedOffsets]
"""Asks a ledger about a batch of a query; never raises."""


def unknown_offsets(_query_id: str, _batch_id: int) -> CommittedOffsets:
    """Answer for a sink whose ledger cannot be asked about one batch."""
    return UNKNOWN


def committed_with(digest: str | None) -> CommittedOffsets:
    """Return the answer for a batch that is there; its digest may not be known."""
    return CommittedOffsets(True, digest)


@dataclass(frozen=True)
class OwnLedger:
    """The newest batch of every query that a sink took."""

    kind: str
    """`files`, `postgres` or `custom`."""
    location: str
    """Where the ledger is, as shown to people."""
    named: str
    """What it is, in words."""
    newest: Mapping[str, int]
    """Query id to the newest batch."""

    def last_committed(self, query_id: str | None) -> LastCommitted:
        """Return the newest batch of a query."""
        value = self.newest.get(query_id) if query_id is not None else None
        if value is not None:
            return LastCommitted.batch(value, f"read from {self.named}")
        answer = LastCommitted.unknown if query_id is None else LastCommitted.nothing
        return answer(f"no batch of this query is in {self.named}")


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
class NativeSinkState:
    """What Spark's own sink would do with the batches of the query."""

    continues_as: str | None = None
    """The application id under which a Delta table continues the query since Holdfast took batches
    of it back: Spark's own sink would write under the old one, and be skipped."""
    lacks_log: bool = False
    """Spark's file sink keeps its log of batches here, and there is none."""
    written_ms: int | None = None
    """When Spark's file sink wrote the newest batch of its log; None where it does not say."""


@dataclass(frozen=True)
class SinkState:
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
    begins_with: int | None = None
    """The oldest batch of the query that the table ever had; None where that is not known."""
    shows_rows: bool = True
    """Whether `contents` is about the rows; False where only a ledger can be looked at."""
    is_own: bool = False
    """Whether rows there are named as those of this query, although no ledger knows them."""
    is_for_development: bool = False
    """Whether nothing in it is meant to outlive the process."""
    native: NativeSinkState | None = None
    """None where Holdfast's own sink writes."""

    @property
    def newest_delivered(self) -> int | None:
        """The newest batch whose rows are there: a ledger alone may outlive them."""
        return None if self.contents is Contents.ABSENT else self.held.value
