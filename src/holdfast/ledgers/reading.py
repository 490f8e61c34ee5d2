"""Asks a sink which memory of batches it has, and reads it: a folder, a database, a function's."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial

from holdfast.errors import HoldfastError, SinkError, StorageError
from holdfast.ledgers import sparkfilesink
from holdfast.ledgers.custom import read_batch_ledger, recorded_offsets
from holdfast.ledgers.database.connection import postgres_address
from holdfast.ledgers.database.postgres import PostgresLedger
from holdfast.ledgers.delta import transactions as delta
from holdfast.ledgers.delta.following import offsets_in_table
from holdfast.ledgers.delta.transactions import DeltaLedger, read_delta_ledger
from holdfast.ledgers.files import output as fileoutput
from holdfast.ledgers.files.manifests import ManifestLog, read_manifest_ledger
from holdfast.ledgers.files.outputcheck import OutputState, look_at_output
from holdfast.ledgers.sinkstate import (
    LastCommitted,
    OffsetsOf,
    OwnLedger,
    SinkState,
    unknown_offsets,
)
from holdfast.ledgers.sparkfilesink import LOG_FOLDER, FileSinkLog, read_file_sink_log
from holdfast.storage.reading import Reader

OpenBelow = Callable[[str], Reader]
"""Opens a folder directly below the output folder, or below `.holdfast` beside it, for reading."""


COPIED_MANIFESTS = "_manifests"
"""What a backup calls manifests where it writes them out: a copy lies in its folder."""
ASKED_SECONDS = 2
"""How long a database may take to be connected to, and then to answer."""

_NO_FUNCTIONS = (
    "the function keeps no ledger beside the checkpoint; one elsewhere is asked from Python: "
    "holdfast.BatchLedger(PLACE).last_committed(QUERY_ID)"
)


@dataclass(frozen=True)
class SinkMemory:
    """What a sink remembers of batches; at most one of the three is there."""

    location: str
    files: FileSinkLog | None = None
    delta: DeltaLedger | None = None
    own: OwnLedger | None = None
    """Of Holdfast's own making: manifests, a table in the database, a function's ledger."""
    failure: HoldfastError | None = None
    """Why it could not be asked."""
    nothing: str = "the output folder holds no log of batches"
    """What is to be said where there is no memory."""
    is_folder: bool = True
    """An output folder, which would hold its memory itself."""
    offsets_of: OffsetsOf = unknown_offsets
    """Asks for the digest that is stored of one batch; the sink is asked only when it is called."""

    @property
    def kind(self) -> str:
        """`delta`, `files`, `postgres`, `custom` or `none`."""
        if self.own is not None:
            return self.own.kind
        return "delta" if self.delta else "files" if self.files else "none"

    def last_committed(self, query_id: str | None) -> LastCommitted:
        """Return the newest batch that the sink holds of this query; never raises."""
        ledger = self.delta or self.files or self.own
        if ledger is not None:
            return ledger.last_committed(query_id)
        if self.failure is not None:
            return LastCommitted.unknown(f"the sink could not be read: {self.failure.message}")
        if self.is_folder and query_id is not None:
            return LastCommitted.nothing(self.nothing)
        return LastCommitted.unknown(self.nothing)


def ask_sink(
    location: str,
    open_below: OpenBelow,
    batches: Collection[int] = (),
    open_beside: OpenBelow | None = None,
) -> SinkMemory:
    """Read what the output folder remembers; `batches` are those whose entries are looked into.

    Only the logs are listed, never the data files, of which there may be millions.
    """
    try:
        table = read_delta_ledger(open_below(delta.LOG_FOLDER))
        if table is not None:
            log = open_below(delta.LOG_FOLDER)
            return SinkMemory(location, delta=table, offsets_of=partial(offsets_in_table, log))
        files = read_file_sink_log(open_below(sparkfilesink.LOG_FOLDER), batches)
        if files is not None or open_beside is None:
            return SinkMemory(location, files=files)
        reader = open_beside(fileoutput.MANIFESTS)
        manifests = read_manifest_ledger(reader)
        if manifests is None:
            reader = open_below(COPIED_MANIFESTS)
            manifests = read_manifest_ledger(reader)
    except (StorageError, SinkError) as failure:
        return SinkMemory(location, failure=failure)
    if manifests is None:
        return SinkMemory(location)
    return SinkMemory(location, own=manifests, offsets_of=ManifestLog(reader).offsets_of)


def ask_postgres(url: str, table: str, options: Mapping[str, str], at: str | None) -> SinkMemory:
    """Ask the ledger in a database, for a short time only; `at` is where the sink is declared."""
    try:
        address = postgres_address(url, table, options, at)
    except SinkError as failure:
        return SinkMemory(table, failure=failure, is_folder=False)
    ledger = PostgresLedger(address)
    found = ledger.look(ASKED_SECONDS)
    if isinstance(found, OwnLedger):
        return SinkMemory(address.shown, own=found, is_folder=False, offsets_of=ledger.offsets_of)
    unreached = SinkError("HF5041", found, at=address.shown)
    return SinkMemory(address.shown, failure=unreached, is_folder=False)


def untold(location: str, why: str) -> SinkMemory:
    """Return the memory of a sink that cannot be asked at all, with the reason."""
    return SinkMemory(location, nothing=why, is_folder=False)


def ask_function(location: str, open_ledger: Callable[[], Reader]) -> SinkMemory:
    """Ask the ledger beside a checkpoint that a function of the user's may keep."""
    try:
        found = read_batch_ledger(reader := open_ledger())
    except StorageError as failure:
        return SinkMemory(location, failure=failure, is_folder=False)
    if found is None:
        return SinkMemory(location, nothing=_NO_FUNCTIONS, is_folder=False)
    asked = partial(recorded_offsets, reader)
    return SinkMemory(location, own=found, is_folder=False, offsets_of=asked)


Ask = Callable[[], SinkMemory]
See = Callable[[str], SinkState]


@dataclass(frozen=True)
class SinkPlace:
    """Where a sink is, as shown to people, and how it is asked; nothing is read yet."""

    location: str
    open_below: OpenBelow | None = None
    """Opens a folder of an output folder, or itself (""); None for a sink that is no folder."""
    given: bool = False
    """Named with --sink, not taken from the project file."""
    open_beside: OpenBelow | None = None
    """Opens what is kept beside an output folder."""
    asked: Ask | None = None
    """Asks a sink that is no folder."""
    kind: str = "none"
    """The declared format of such a sink."""
    sees: See | None = None
    """Looks at a declared sink of Holdfast's as a start does, for the query with this id."""

    def ask(self, batches: Collection[int] = ()) -> SinkMemory:
        """Ask what it remembers; never raises. Entries of these batches are looked into."""
        if self.open_below is not None:
            return ask_sink(self.location, self.open_below, batches, self.open_beside)
        if self.asked is not None:
            return self.asked()
        return SinkMemory(self.location)

    def belongs_to_spark(self) -> bool:
        """Return whether Spark's own file sink keeps its log in the folder: one listing of it.

        Raises StorageError where the folder cannot be listed.
        """
        return self.open_below is not None and bool(self.open_below(LOG_FOLDER).names(""))

    def see(self, query_id: str | None) -> SinkState | None:
        """Return the declared sink as a start sees it; None where it cannot be looked at."""
        if self.sees is None or query_id is None:
            return None
        try:
            return self.sees(query_id)
        except (StorageError, SinkError):
            # What keeps it from being read is reported by whoever asks for its memory.
            return None

    def look(self, memory: SinkMemory, *, all_files: bool) -> OutputState | None:
        """Look at the manifests, the staging and the output of a file sink of ours; else None."""
        foreign = memory.delta or memory.files or memory.failure
        if foreign or self.open_below is None or self.open_beside is None:
            return None
        return look_at_output(self.open_below, self.open_beside, all_files=all_files)
