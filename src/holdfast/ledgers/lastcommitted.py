"""What a sink says it last committed for a query, and how that is known."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from holdfast.errors import HoldfastError, SinkError

_DENIED = "HF7002"


class Answer(str, Enum):
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
    def answer(self) -> Answer:
        """Which of the three answers this is."""
        if self.value is not None:
            return Answer.BATCH
        return Answer.NOTHING if self.answered else Answer.UNKNOWN


def cannot_be_asked(shown: str | None, error: HoldfastError) -> SinkError:
    """Return the error of a sink that something keeps from answering.

    Where access was denied, that says best what is missing: reading, or writing.
    """
    message, at = f"{shown} can't be asked: {error.message}", error.at or shown
    if error.code.number != _DENIED:
        return SinkError("HF5009", message, at=at)
    return SinkError("HF5009", message, at=at, why=error.why, next_steps=error.next_steps)
