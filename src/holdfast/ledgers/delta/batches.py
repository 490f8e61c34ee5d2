"""Batches in a Delta table: the names of a query there, and what a version committed.

Delta never forgets an identifier, not even by RESTORE: what was rewound cannot be written again
under the same application id. So the old one is closed and the next one opened. The names are the
query id, then `<query id>#1`, `#2` and so on; `<query id>#<n>:from` opens the n-th, and its version
is the first batch that is written under it. `<query id>#<n>:until` is written before that, with the
generation that ended the n-th name: under the next one no older generation writes. A backfill of
the query writes under `<query id>+<id of its plan>`, which is taken back like any other name.

The batch is identified by the `txn` action of the version: a name of the query and the batch id.
The commit's own `userMetadata` holds what Holdfast adds, as JSON; Spark's native sink writes none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from holdfast.errors import DecodeError
from holdfast.format.strictjson import decode_object
from holdfast.ledgers.delta.log import Commit, Transaction
from holdfast.ledgers.identity import BatchIdentity

CLOSED = 2**63 - 1
"""The version of an identifier that is closed for ever: whatever is written under it is skipped."""

_UUID = r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
_NEXT = re.compile(rf"({_UUID}(?:\+backfill-[0-9a-f]{{16}})?)#(0|[1-9][0-9]*)(:from|:until)?")


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
class ApplicationState:
    """How a query stands in a table under one of its names."""

    application: Application
    closed: bool
    last_batch: int | None
    """The newest batch that the table holds, also under earlier names; None where it has none."""


def decode_identifier(app_id: str) -> Identifier:
    """Return which name of which query this is; whatever is not a later name is the first one."""
    match = _NEXT.fullmatch(app_id)
    if match is None or (match[2] == "0" and match[3] != ":until"):
        return Identifier(Application(app_id, 0), False)
    application = Application(match[1], int(match[2]))
    return Identifier(application, match[3] == ":from", match[3] == ":until")


def current_application(identifiers: Iterable[str], query_id: str) -> Application:
    """Return the newest name of a query among these identifiers."""
    decoded = (decode_identifier(one).application for one in identifiers)
    number = max((one.number for one in decoded if one.query_id == query_id), default=0)
    return Application(query_id, number)


def fence_before(identifiers: Mapping[str, int], application: Application) -> int:
    """Return the oldest generation that may write under this name; 0 where any may."""
    if not application.number:
        return 0
    ended = Application(application.query_id, application.number - 1)
    return identifiers.get(ended.fencing_id, 0)


def application_state(identifiers: Mapping[str, int], application: Application) -> ApplicationState:
    """Return the state of a query under this name."""
    written, first = identifiers.get(application.id), identifiers.get(application.opening_id)
    if written == CLOSED:
        return ApplicationState(application, True, None)
    if written is None and first:
        return ApplicationState(application, False, first - 1)
    return ApplicationState(application, False, written)


def batches_by_query(identifiers: Mapping[str, int]) -> dict[str, int]:
    """Return the newest batch of each query, `CLOSED` where its newest name is closed.

    A query whose batches were all taken back is not among them.
    """
    newest: dict[str, int] = {}
    for query_id in dict.fromkeys(
        decode_identifier(one).application.query_id for one in identifiers
    ):
        standing = application_state(identifiers, current_application(identifiers, query_id))
        if standing.closed:
            newest[query_id] = CLOSED
        elif standing.last_batch is not None:
            newest[query_id] = standing.last_batch
    return newest


FORMAT = 1
"""The version of what stands in `userMetadata`."""

_ROW_COUNTS = (("numOutputRows",), ("numTargetRowsInserted", "numTargetRowsUpdated"))


@dataclass(frozen=True)
class DeltaBatch:
    """One batch as a version of the table holds it; or the end or the opening of a name."""

    table_version: int
    batch_id: int
    """`CLOSED` where the version closed the name; its first batch where it opened it."""
    offsets_digest: str | None = None
    """None where Holdfast did not write it."""
    generation: int | None = None
    rows: int | None = None
    """How many rows it wrote, where the writer noted it."""
    number: int = 0
    """The number of the query's name that it was written under."""
    opens: bool = False
    """No batch: the version opened the name."""
    act: str | None = None
    """What Holdfast did, where it took batches back."""


def user_metadata(identity: BatchIdentity) -> str:
    """Return the text that is committed together with a batch."""
    fields = asdict(identity)
    # Of the two digests a version stores the one that covers more.
    del fields["entry_digest"]
    return json.dumps({"holdfast": FORMAT, **fields})


def batch_of(table_version: int, commit: Commit, query_id: str) -> DeltaBatch | None:
    """Return the batch of this query that a version committed; None where it has none.

    Raises DecodeError.
    """
    found: tuple[Application, bool, int] | None = None
    for transaction in commit.transactions:
        found = _of_query(transaction, query_id) or found
    if found is None:
        return None
    application, opens, batch_id = found
    note = note_of(commit.information)
    act = note.get("act")
    digest, generation = _noted(note, query_id, batch_id)
    return DeltaBatch(
        table_version=table_version,
        batch_id=batch_id,
        offsets_digest=digest,
        generation=generation,
        rows=_rows(commit.information),
        number=application.number,
        opens=opens,
        act=act if isinstance(act, str) else None,
    )


def note_of(information: Mapping[str, object]) -> Mapping[str, object]:
    """Return Holdfast's note in a `commitInfo`; empty where there is none."""
    text = information.get("userMetadata")
    if not isinstance(text, str):
        return {}
    try:
        note = decode_object(text, what="the user metadata of a Delta commit")
    except DecodeError:
        # A note of anybody else says nothing.
        return {}
    return note if "holdfast" in note else {}


def _of_query(transaction: Transaction, query_id: str) -> tuple[Application, bool, int] | None:
    identifier = decode_identifier(transaction.app_id)
    if identifier.application.query_id != query_id or identifier.fences:
        return None
    return identifier.application, identifier.opens, transaction.version


def _noted(
    note: Mapping[str, object], query_id: str, batch_id: int
) -> tuple[str | None, int | None]:
    """Take digest and generation from the note of this batch."""
    if (note.get("query_id"), note.get("batch_id")) != (query_id, batch_id):
        return None, None
    digest, generation = note.get("offsets_digest"), note.get("generation")
    return (
        digest if isinstance(digest, str) else None,
        generation if isinstance(generation, int) else None,
    )


def _rows(information: Mapping[str, object]) -> int | None:
    """Count what was written; a merge also copies rows, which are not the batch's."""
    metrics = information.get("operationMetrics")
    if not isinstance(metrics, dict):
        return None
    names = _ROW_COUNTS[information.get("operation") == "MERGE"]
    counts = [metrics.get(name) for name in names]
    texts = [count for count in counts if isinstance(count, str) and count.isdecimal()]
    return sum(map(int, texts)) if len(texts) == len(names) else None
