"""Names under which a Delta table knows a query: its own id, and another after each taking back.

Delta never forgets an identifier, not even by RESTORE: what was taken back can't be written again
under the same application id. So the old one is closed and the next one opened. The names are the
query id, then `<query id>#1`, `#2` and so on; `<query id>#<n>:from` opens the n-th, and its version
is the first batch that is written under it. `<query id>#<n>:until` is written before that, with the
generation that ended the n-th name: under the next one no older generation writes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

CLOSED = 2**63 - 1
"""The version of an identifier that is closed for ever: whatever is written under it is skipped."""

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_NEXT = re.compile(rf"({_UUID})#(0|[1-9][0-9]*)(:from|:until)?")


@dataclass(frozen=True)
class Application:
    """One name of a query; the number tells how often its batches were taken back before."""

    query_id: str
    number: int

    @property
    def id(self) -> str:
        """The application id of its batches."""
        return f"{self.query_id}#{self.number}" if self.number else self.query_id

    @property
    def opening_id(self) -> str:
        """The application id of the commit that opens it; the first one needs none."""
        return f"{self.id}:from"

    @property
    def fencing_id(self) -> str:
        """The application id of the commit that says which generation ended it."""
        return f"{self.query_id}#{self.number}:until"

    @property
    def following(self) -> Application:
        """The name after this one is closed."""
        return Application(self.query_id, self.number + 1)


@dataclass(frozen=True)
class Identifier:
    """What the application id of a `txn` action says."""

    application: Application
    opens: bool
    """It opens the application; its version is the first batch, not one that was written."""
    fences: bool = False
    """It ended the application; its version is a generation, and no batch."""


@dataclass(frozen=True)
class Standing:
    """How a query stands in a table under one of its names."""

    application: Application
    closed: bool
    last_batch: int | None
    """The newest batch that the table holds, also under earlier names; None where it has none."""


def decode_identifier(app_id: str) -> Identifier:
    """Tell which name of which query this is; whatever is not a later name is the first one."""
    match = _NEXT.fullmatch(app_id)
    if match is None or (match[2] == "0" and match[3] != ":until"):
        return Identifier(Application(app_id, 0), False)
    application = Application(match[1], int(match[2]))
    return Identifier(application, match[3] == ":from", match[3] == ":until")


def current_application(identifiers: Iterable[str], query_id: str) -> Application:
    """Give the newest name of a query among these identifiers."""
    decoded = (decode_identifier(one).application for one in identifiers)
    number = max((one.number for one in decoded if one.query_id == query_id), default=0)
    return Application(query_id, number)


def fence_before(identifiers: Mapping[str, int], application: Application) -> int:
    """Return the oldest generation that may write under this name; 0 where any may."""
    if not application.number:
        return 0
    ended = Application(application.query_id, application.number - 1)
    return identifiers.get(ended.fencing_id, 0)


def standing_of(identifiers: Mapping[str, int], application: Application) -> Standing:
    """Tell how a query stands under this name."""
    written, first = identifiers.get(application.id), identifiers.get(application.opening_id)
    if written == CLOSED:
        return Standing(application, True, None)
    if written is None and first:
        return Standing(application, False, first - 1)
    return Standing(application, False, written)


def batches_by_query(identifiers: Mapping[str, int]) -> dict[str, int]:
    """Give the newest batch of each query, `CLOSED` where its newest name is closed.

    A query whose batches were all taken back is not among them.
    """
    newest: dict[str, int] = {}
    for query_id in dict.fromkeys(
        decode_identifier(one).application.query_id for one in identifiers
    ):
        standing = standing_of(identifiers, current_application(identifiers, query_id))
        if standing.closed:
            newest[query_id] = CLOSED
        elif standing.last_batch is not None:
            newest[query_id] = standing.last_batch
    return newest
