"""Reads what each version of a Delta table did: whose it is, and whether it changed rows.

Without a JVM, newest first. It is read where batches are to be taken back: nothing may go that is
somebody else's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holdfast.errors import DecodeError, NotFoundError
from holdfast.format.strictjson import decode_object
from holdfast.ledgers.deltabatches import note_of
from holdfast.ledgers.deltaidentity import Identifier, decode_identifier
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
            data = reader.read(f"{number:020}.json")
        except NotFoundError:
            return
        yield decode_version(number, data)


def decode_version(number: int, data: bytes) -> TableVersion:
    """Give what a version did; raise DecodeError."""
    information: Mapping[str, object] = {}
    identifiers: list[tuple[Identifier, int]] = []
    rows = table = False
    for line in data.decode("utf-8", "replace").split("\n"):
        action = decode_object(line, what="an action of a Delta log") if line.strip() else {}
        if isinstance(told := action.get("commitInfo"), dict):
            information = told
        if isinstance(transaction := action.get("txn"), dict):
            identifiers.append(_identifier(transaction))
        for name in ("add", "remove"):
            if isinstance(file := action.get(name), dict):
                rows = rows or file.get("dataChange") is not False
        table = table or "metaData" in action or "protocol" in action
    note = note_of(information)
    operation = information.get("operation")
    emptied = operation == "DELETE" and note.get("act") == "taken-back"
    whole = emptied or (operation == "WRITE" and _replaces_all(information))
    restores = operation == "RESTORE"
    return TableVersion(number, tuple(identifiers), note, rows, table, whole, restores)


def _identifier(transaction: Mapping[str, object]) -> tuple[Identifier, int]:
    app_id, version = transaction.get("appId"), transaction.get("version")
    if not isinstance(app_id, str) or not isinstance(version, int):
        raise DecodeError("HF2416", "a txn action of the Delta log has no appId or no version")
    return decode_identifier(app_id), version


def _replaces_all(information: Mapping[str, object]) -> bool:
    parameters = information.get("operationParameters")
    if not isinstance(parameters, dict):
        return False
    return parameters.get("mode") == "Overwrite" and "predicate" not in parameters
