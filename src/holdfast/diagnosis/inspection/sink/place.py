"""A sink that can be asked what it remembers: an output folder, a database, a function's ledger."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from holdfast.errors import SinkError, StorageError
from holdfast.ledgers.files.outputcheck import OutputState, look_at_output
from holdfast.ledgers.reading import OpenBelow, SinkMemory, ask_sink
from holdfast.ledgers.sinkstate import SinkState
from holdfast.ledgers.sparkfilesink import LOG_FOLDER

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
