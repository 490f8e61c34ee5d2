"""Reads what each version of a Delta table did: whose it is, and whether it changed rows.

Without a JVM, newest first. It is read where batches are to be taken back: nothing may go that is
somebody else's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holdfast.errors import NotFoundError
from holdfast.ledgers.delta.batches import note_of
from holdfast.ledgers.delta.identity import Identifier, decode_identifier
from holdfast.ledgers.delta.log import Commit, version_file
from holdfast.storage.reading import Reader


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
    """Give the versions down to the first one that is gone.

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
