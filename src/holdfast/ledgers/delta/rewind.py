"""Finds how far a Delta table can be taken back without anybody else's rows.

Without a JVM, newest first. It is read where batches are to be rewound: nothing may go that is
somebody else's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from holdfast.errors import NotFoundError
from holdfast.ledgers.delta.batches import (
    CLOSED,
    Application,
    Identifier,
    decode_identifier,
    note_of,
)
from holdfast.ledgers.delta.log import Commit, version_file
from holdfast.storage.reading import Reader

BROUGHT_BACK = "brought_back"
"""What a version notes that undid a taking back: the version that it restored."""


@dataclass(frozen=True)
class TableVersion:
    """What one version of a table did."""

    number: int
    identifiers: tuple[tuple[Identifier, int], ...]
    """Every name that it was written under, with the batch id."""
    note: Mapping[str, object]
    """Holdfast's own; empty where somebody else wrote it."""
    changes_rows: bool
    changes_table: bool
    """Columns, properties or the protocol."""
    replaces_all: bool
    """No row of any earlier version is left."""
    restores: bool = False
    """It brought an earlier version back."""

    @property
    def queries(self) -> frozenset[str]:
        """Whose it is: every query that it is a batch of, or that it took batches back of."""
        taken = self.note.get("batches")
        named = taken if isinstance(taken, Mapping) else {}
        return frozenset(named) | {one.application.query_id for one, _ in self.identifiers}


def versions_newest_first(reader: Reader, newest: int) -> Iterator[TableVersion]:
    """Yield the versions down to the first one that is gone.

    Raises StorageError, and DecodeError where one can't be read.
    """
    for number in range(newest, -1, -1):
        try:
            data = reader.read(version_file(number))
        except NotFoundError:
            return
        yield _version(number, Commit(data))


def _version(number: int, commit: Commit) -> TableVersion:
    identifiers = tuple((decode_identifier(one.app_id), one.version) for one in commit.transactions)
    information = commit.information
    note = note_of(information)
    operation = information.get("operation")
    emptied = operation == "DELETE" and note.get("act") == "taken-back"
    return TableVersion(
        number,
        identifiers,
        note,
        commit.changes_rows,
        commit.changes_table,
        replaces_all=emptied or (operation == "WRITE" and _replaces_all(information)),
        restores=operation == "RESTORE",
    )


def _replaces_all(information: Mapping[str, object]) -> bool:
    parameters = information.get("operationParameters")
    if not isinstance(parameters, dict):
        return False
    return parameters.get("mode") == "Overwrite" and "predicate" not in parameters


@dataclass(frozen=True)
class Goal:
    """Where the table is to be taken back to."""

    version: int | None
    """The version to restore; None where it is not in the log."""
    foreign: int | None
    """The newest version of somebody else that lies after it."""


@dataclass(frozen=True)
class Beginning:
    """Whether every row of the table is of these queries."""

    queries: frozenset[str]
    foreign: int | None
    """The newest version of somebody else that changed rows."""
    seen_whole: bool
    """The log reaches back to where the table held no row."""


@dataclass(frozen=True)
class Ending:
    """What became of an act that closed a name of a query and opened no other yet."""

    act_id: str
    batch_id: int | None
    """The batch that the query goes on after: the one wanted, or its newest if nothing was done."""
    give_back: int | None = None
    """The version to restore first, because the act took somebody else's rows along."""
    foreign: int | None = None
    """The version of somebody else that came in between."""


@dataclass(frozen=True)
class LateStep:
    """A version that took rows away although its act had been ended by another one before."""

    number: int
    has_rows_since: bool
    """Rows changed after it, so that it can't just be undone."""


def newest_generation(versions: Iterable[TableVersion], query_id: str) -> int:
    """Return the generation that wrote last for a query, 0 where no version tells."""
    for version in versions:
        generation = version.note.get("generation")
        named = {one.application.query_id for one, _ in version.identifiers}
        if query_id in named and isinstance(generation, int):
            return generation
    return 0


def find_goal(versions: Iterable[TableVersion], query_id: str, batch_id: int) -> Goal:
    """Look for the version of a batch that was not taken back, newest first."""
    newest, foreign = CLOSED, None
    since: int | None = None
    for version in versions:
        if since is not None and version.number > since:
            continue
        brought = version.note.get(BROUGHT_BACK)
        if isinstance(brought, int):
            # What came between was undone: the table is what it was at that version.
            since = brought
            continue
        for identifier, number in version.identifiers:
            if identifier.application.query_id != query_id or identifier.fences:
                continue
            if identifier.opens:
                newest = min(newest, number - 1)
            elif number == batch_id <= newest:
                return Goal(version.number, foreign)
        changes = version.changes_rows or version.changes_table
        if foreign is None and changes and not _is_of(version, {query_id}):
            foreign = version.number
    return Goal(None, foreign)


def find_beginning(
    versions: Iterable[TableVersion], queries: Collection[str] | None = None
) -> Beginning:
    """Look back to where the table held no row; None means every query that Holdfast wrote."""
    seen = list(versions)
    ours = frozenset(_written_by_us(seen) if queries is None else queries)
    restored = False
    for version in seen:
        if version.changes_rows and not _is_of(version, ours):
            return Beginning(ours, version.number, True)
        # What was replaced once may have come back by a later restoring.
        restored = restored or version.restores
        if version.number == 0 or (version.replaces_all and not restored):
            return Beginning(ours, None, True)
    return Beginning(ours, None, not seen)


def find_ending(versions: Iterable[TableVersion], application: Application) -> Ending | None:
    """Return the state of an operation on a closed name; None if Holdfast did not close it."""
    after: list[TableVersion] = []
    remaining = iter(versions)
    for version in remaining:
        if (Identifier(application, False), CLOSED) in version.identifiers:
            return _ending(after, version, remaining, application)
        after.append(version)
    return None


def find_late_step(
    versions: Iterable[TableVersion], act_id: str, following: Collection[Application]
) -> LateStep | None:
    """Find where an act took rows after a name that follows its own was open; newest first."""
    done: int | None = None
    rows = False
    for version in versions:
        if done is None:
            if version.note.get("act_id") == act_id and version.note.get("act") == "taken-back":
                done = version.number
            else:
                rows = rows or version.changes_rows
        elif any(one.opens and one.application in following for one, _ in version.identifiers):
            return LateStep(done, rows)
    return None


def _ending(
    after: list[TableVersion],
    closing: TableVersion,
    before: Iterable[TableVersion],
    application: Application,
) -> Ending | None:
    act_id, wanted = closing.note.get("act_id"), closing.note.get("batch_id")
    if not isinstance(act_id, str) or not isinstance(wanted, int):
        return None
    steps = [one for one in after if one.note.get("act_id") == act_id and one.note.get("batches")]
    if not steps or steps[0].note.get("act") != "taken-back":
        return Ending(act_id, _last_batch(closing, before, application))
    done = steps[0].number
    between = [
        one.number for one in after if one.number < done and _meddles(one, act_id, application)
    ]
    if not between:
        return Ending(act_id, wanted)
    if any(one.changes_rows for one in after if one.number > done):
        return Ending(act_id, wanted, foreign=between[0])
    newest = _last_batch(closing, before, application)
    return Ending(act_id, newest, give_back=done - 1, foreign=between[0])


def _meddles(version: TableVersion, act_id: str, application: Application) -> bool:
    if version.note.get("act_id") == act_id:
        return False
    touches = application.query_id in version.queries
    return touches or version.changes_rows or version.changes_table


def _last_batch(
    closing: TableVersion, before: Iterable[TableVersion], application: Application
) -> int | None:
    """Return the newest batch under a name; one may have come while the name was being closed."""
    seen = closing.note.get("newest_version")
    for version in before:
        if not isinstance(seen, int) or version.number <= seen:
            break
        for identifier, number in version.identifiers:
            if identifier == Identifier(application, False):
                return number
    noted = closing.note.get("last_batch")
    return noted if isinstance(noted, int) else None


def _is_of(version: TableVersion, queries: Collection[str]) -> bool:
    return bool(version.queries) and version.queries <= frozenset(queries)


def _written_by_us(versions: Iterable[TableVersion]) -> set[str]:
    return {
        str(version.note["query_id"])
        for version in versions
        if "offsets_digest" in version.note and version.note.get("query_id") in version.queries
    }
