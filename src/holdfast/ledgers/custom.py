"""The ledger of a function of the user's: one write-once file for each batch that it delivered.

It is not part of what the function writes, so the two are not atomic. A crash between the
two leaves a batch that is delivered and not recorded; `docs/reference/batch-ledger.md` says what
follows from that, and fixes the format.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, overload
from urllib.parse import quote, unquote

from holdfast.errors import NotFoundError, SinkError, StorageError
from holdfast.ledgers.identity import BatchId, BatchIdentity
from holdfast.ledgers.sinkstate import (
    NOT_COMMITTED,
    UNKNOWN,
    CommittedOffsets,
    LastCommitted,
    OwnLedger,
    committed_with,
)
from holdfast.storage.beside import beside, part_of
from holdfast.storage.location import Location, parse_location, place_within
from holdfast.storage.opening import open_reader, open_writer
from holdfast.storage.options import (
    FamilyOptions,
    OptionValue,
    StorageOptions,
    StorageSettings,
    settings_given,
)
from holdfast.storage.reading import Reader
from holdfast.storage.writing import Writer

VERSION = 1
"""The version of an entry, in its field `holdfast`; fields may be added without a new one."""

_TEXTS = ("query_id", "offsets_digest", "recorded_at")


@dataclass(frozen=True)
class LedgerEntry:
    """One batch that was delivered."""

    query_id: str
    batch_id: int
    generation: int
    offsets_digest: str
    recorded_at: str


def encode_entry(entry: LedgerEntry) -> bytes:
    """Return the bytes of an entry: JSON in ASCII, names in order, one line."""
    document = {"holdfast": VERSION, **asdict(entry)}
    return json.dumps(document, sort_keys=True).encode("ascii") + b"\n"


def decode_entry(content: bytes, at: str) -> LedgerEntry:
    """Return the entry that the bytes hold; raise SinkError where they hold none."""
    try:
        return _decoded(json.loads(content.decode("utf-8")))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        message = f"an entry cannot be read: {type(error).__name__}"
        raise SinkError("HF5091", message, at=at) from error


def _decoded(document: Any) -> LedgerEntry:
    numbers = [document[name] for name in ("holdfast", "batch_id", "generation")]
    texts = [document[name] for name in _TEXTS]
    if any(type(one) is not int for one in numbers) or any(type(one) is not str for one in texts):
        raise TypeError("a field has the wrong type")
    if numbers[0] > VERSION:
        raise ValueError("a newer version")
    return LedgerEntry(texts[0], numbers[1], numbers[2], texts[1], texts[2])


PART = "batches"
"""Its name in the directory of records next to a checkpoint."""
KEPT_BATCHES = 1000
"""How many of the newest batches of a query are remembered one by one."""

_NAME = re.compile(r"(\d{10,})\.json")


class BatchLedger:
    """The ledger at one location, a directory of its own on this machine or on S3.

    `storage_options` are settings of the storage, such as `{"endpoint": …}`; `storage` has
    the form of `storage:` in the project file.
    """

    def __init__(
        self,
        place: str | os.PathLike[str] | Location,
        storage: StorageSettings | Mapping[str, Mapping[str, OptionValue]] | None = None,
        *,
        storage_options: StorageOptions = (),
    ) -> None:
        if not isinstance(place, Location):
            place = parse_location(os.fspath(place))
        if not isinstance(storage, StorageSettings):
            storage = StorageSettings(storage or {})
        self._location: Location = place
        given = settings_given(place.scheme, storage_options)
        self._settings: StorageSettings = storage.overridden_by(given)

    @property
    def location(self) -> str:
        """Where it is, as shown to people."""
        return self._location.shown

    def refuse_unusable(self) -> None:
        """Raise StorageError if entries cannot be listed, or cannot be created atomically."""
        open_writer(self._location, self._settings)
        self._reader.names("")

    def holds(self, identity: BatchIdentity | BatchId) -> bool:
        """Return whether the batch is recorded; raise where it must be neither skipped nor written.

        HF5003: it is recorded with different offsets. HF5090: a newer driver has recorded batches.
        HF5024: newer batches are recorded, and this one is not.
        """
        batches = _batches_in(self._reader, identity.query_id)
        if not batches:
            return False
        newest = self._read(identity.query_id, batches[-1])
        self._refuse_older_driver(newest, identity)
        if newest.batch_id < identity.batch_id:
            return False
        if identity.batch_id not in batches:
            message = f"the ledger has batch {newest.batch_id}, but not {identity.batch_id}"
            steps = (
                "put the checkpoint's newest entries back from a backup: holdfast backups TARGET",
            )
            raise SinkError("HF5024", message, at=self.location, next_steps=steps)
        self._refuse_other_offsets(self._read(identity.query_id, identity.batch_id), identity)
        return True

    def record(self, identity: BatchIdentity | BatchId, moment: str) -> None:
        """Remember a batch as delivered; on return it survives a power cut.

        Raises where another driver recorded it meanwhile, with other offsets or after a take-over.
        """
        entry = LedgerEntry(
            identity.query_id,
            identity.batch_id,
            identity.generation,
            identity.offsets_digest,
            moment,
        )
        path = entry_path(identity.query_id, identity.batch_id)
        created = self._writer.create(path, (encode_entry(entry),))
        self._writer.settle()
        if not created:
            found = self._read(identity.query_id, identity.batch_id)
            self._refuse_other_offsets(found, identity)
            self._refuse_older_driver(found, identity)
        self._forget(identity.query_id, identity.batch_id - KEPT_BATCHES)

    def last_committed(self, query_id: str | None) -> LastCommitted:
        """Return the newest recorded batch of a query, or why none is known; never raises."""
        if query_id is None:
            return LastCommitted.unknown("the query's id is unknown")
        try:
            batches = _batches_in(self._reader, query_id)
        except StorageError as error:
            return LastCommitted.unknown(f"the ledger could not be read: {error.message}")
        if not batches:
            return LastCommitted.nothing("the function's ledger holds no batch of this query")
        basis = f"the function's ledger at {self.location}; what was written is not looked at"
        return LastCommitted.batch(batches[-1], basis)

    def generation(self, query_id: str) -> int:
        """Return the generation of the newest entry of a query, which refuses older ones.

        0 where there is no entry. Raises SinkError for an entry that cannot be read, StorageError.
        """
        batches = _batches_in(self._reader, query_id)
        return self._read(query_id, batches[-1]).generation if batches else 0

    def offsets_of(self, query_id: str, batch_id: int) -> CommittedOffsets:
        """Return what is recorded of one batch; never raises."""
        return recorded_offsets(self._reader, query_id, batch_id)

    def queries(self) -> frozenset[str]:
        """Name every query with a batch here; empty if that cannot be read."""
        try:
            found = read_batch_ledger(self._reader)
        except StorageError:
            return frozenset()
        return frozenset() if found is None else frozenset(found.newest)

    def _forget(self, query_id: str, batch_id: int) -> None:
        """Remove an old entry; continue if that is not permitted."""
        if batch_id >= 0:
            with suppress(StorageError):
                self._writer.remove(entry_path(query_id, batch_id))

    @cached_property
    def _reader(self) -> Reader:
        return open_reader(self._location, self._settings)

    @cached_property
    def _writer(self) -> Writer:
        return open_writer(self._location, self._settings)

    def _read(self, query_id: str, batch_id: int) -> LedgerEntry:
        return _read_entry(self._reader, query_id, batch_id)

    def _refuse_other_offsets(self, entry: LedgerEntry, identity: BatchIdentity | BatchId) -> None:
        if not identity.has_offsets(entry.offsets_digest):
            message = f"the ledger has batch {identity.batch_id} with different offsets"
            raise SinkError("HF5003", message, at=self.location)

    def _refuse_older_driver(self, entry: LedgerEntry, identity: BatchIdentity | BatchId) -> None:
        if entry.generation > identity.generation:
            message = (
                f"generation {entry.generation} recorded batch {entry.batch_id}; this driver is "
                f"generation {identity.generation}"
            )
            raise SinkError("HF5090", message, at=self.location)


def ledger_beside(checkpoint: Location, settings: StorageSettings) -> BatchLedger:
    """Return the ledger in the records next to a checkpoint."""
    return BatchLedger(part_of(beside(checkpoint), PART), settings)


def read_batch_ledger(reader: Reader) -> OwnLedger | None:
    """Read the newest batch of each query; None where there is no ledger. Raises StorageError."""
    queries = [unquote(name) for name in reader.names("")]
    newest = {query: ids[-1] for query in queries if (ids := _batches_in(reader, query))}
    return OwnLedger("custom", reader.location, "the function's ledger", newest) if newest else None


def recorded_offsets(reader: Reader, query_id: str, batch_id: int) -> CommittedOffsets:
    """Return what the ledger that a reader sees has of one batch; never raises."""
    try:
        batches = _batches_in(reader, query_id)
        if batch_id in batches:
            return committed_with(_read_entry(reader, query_id, batch_id).offsets_digest)
    except (StorageError, SinkError):
        return UNKNOWN
    # Entries of old batches are removed: one that is missing below another may be there.
    return NOT_COMMITTED if not batches or batches[-1] < batch_id else UNKNOWN


def entry_path(query_id: str, batch_id: int) -> str:
    """Name the entry of a batch."""
    return f"{quote(query_id, safe='')}/{batch_id:010d}.json"


def _read_entry(reader: Reader, query_id: str, batch_id: int) -> LedgerEntry:
    path = entry_path(query_id, batch_id)
    at = place_within(reader.location, path)
    try:
        entry = decode_entry(reader.read(path), at)
    except NotFoundError as error:
        raise SinkError("HF5091", "an entry disappeared while it was read", at=at) from error
    if (entry.query_id, entry.batch_id) != (query_id, batch_id):
        raise SinkError("HF5091", "an entry belongs to another batch", at=at)
    return entry


def _batches_in(reader: Reader, query_id: str) -> list[int]:
    """Return the recorded batches of a query in order."""
    found = map(_NAME.fullmatch, reader.names(quote(query_id, safe="")))
    return sorted(int(one[1]) for one in found if one is not None)


Function = Callable[..., Any]

_MARK = "_holdfast_ledger"


@dataclass(frozen=True)
class LedgerOptions:
    """Where the ledger of a function is wanted."""

    place: str | None
    """None: with the records next to the checkpoint."""
    storage: StorageSettings = field(default_factory=StorageSettings)

    def ledger(
        self, checkpoint: Location, settings: StorageSettings, folder: os.PathLike[str]
    ) -> BatchLedger:
        """Return the ledger; a relative place counts from `folder`.

        A place in the same kind of storage as the checkpoint is reached as the checkpoint is.
        """
        if self.place is None:
            return ledger_beside(checkpoint, settings)
        location = parse_location(self.place, relative_to=Path(folder))
        known = settings if location.scheme == checkpoint.scheme else StorageSettings()
        return BatchLedger(location, known.overridden_by(self.storage))


@overload
def once_per_batch(function: Function, /) -> Function: ...


@overload
def once_per_batch(
    *,
    ledger: str | os.PathLike[str],
    storage: FamilyOptions | None = None,
    storage_options: StorageOptions = (),
) -> Callable[[Function], Function]: ...


def once_per_batch(
    function: Function | None = None,
    /,
    *,
    ledger: str | os.PathLike[str] | None = None,
    storage: FamilyOptions | None = None,
    storage_options: StorageOptions = (),
) -> Function | Callable[[Function], Function]:
    """Keep a ledger for the function of a custom sink: a batch already in it is skipped.

    It is next to the checkpoint, or at the location that `ledger` names. A crash between the
    function's write and the ledger's entry calls the function again with the same identity: what
    it wrote under `identity.key` has to be replaced by what it writes then.

    `storage_options` are settings of the storage that `ledger` names; `storage` has the form of
    `storage:` in the project file.

    >>> @once_per_batch
    ... def deliver(batch, batch_id):
    ...     batch.write.mode("append").parquet("lake/orders")
    >>> deliver.__name__
    'deliver'
    """
    place = None if ledger is None else os.fspath(ledger)
    scheme = "file" if place is None else parse_location(place).scheme
    given = settings_given(scheme, storage_options)
    options = LedgerOptions(place, StorageSettings(storage or {}).overridden_by(given))
    if function is not None:
        return _marked(function, options)
    return lambda given: _marked(given, options)


def ledger_options_of(function: Function) -> LedgerOptions | None:
    """Return what a function was marked with, None where it was not."""
    options = getattr(function, _MARK, None)
    return options if isinstance(options, LedgerOptions) else None


def _marked(function: Function, options: LedgerOptions) -> Function:
    @functools.wraps(function)
    def called(*arguments: Any, **named: Any) -> Any:
        return function(*arguments, **named)

    setattr(called, _MARK, options)
    return called
