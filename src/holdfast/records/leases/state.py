"""The two files of a lease's generation, claim and beat, and what one look at them shows."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from typing import TypeVar

from holdfast.errors import NotFoundError, StorageError
from holdfast.records.documents import UnreadableError, decode_document
from holdfast.records.folder import PartReader
from holdfast.records.moments import seconds_since
from holdfast.records.processes import Holder, Presence, is_orphaned, presence, process_here
from holdfast.storage.machine import this_machine

_NAME = re.compile(r"(?P<generation>\d{10})(?:\.beat)?")


class BeatState(str, Enum):
    """What the owner says of its lease."""

    HELD = "held"
    RELEASED = "released"


@dataclass(frozen=True)
class Claim:
    """Who took the lease: `lease/<generation>`."""

    generation: int
    job: str
    project: str | None
    holder: Holder
    since: str
    holdfast: str
    token: str
    """Tells two claims of one process apart."""
    act: str | None = None
    """What is done to the checkpoint, such as `restore`; None for a driver that runs the job."""

    @property
    def words(self) -> str:
        """Name the claim for people."""
        if self.act is not None:
            return f"{self.act} by {self.holder.words}, since {self.since}"
        return f"job {self.job}, {self.holder.words}, since {self.since}"


@dataclass(frozen=True)
class Beat:
    """That the owner still holds it: `lease/<generation>.beat`."""

    counter: int
    written_at: str
    state: BeatState


def claim_name(generation: int) -> str:
    """Name the file of a claim."""
    return f"{generation:010d}"


def beat_name(generation: int) -> str:
    """Name the file of a claim's beats."""
    return f"{claim_name(generation)}.beat"


def generations(names: Iterable[str]) -> tuple[int, ...]:
    """Return every generation that left a file, the newest first; a beat alone counts too."""
    found = (_NAME.fullmatch(name) for name in names)
    return tuple(sorted({int(match["generation"]) for match in found if match}, reverse=True))


OWN_TOKENS: set[str] = set()
"""The claims that this process holds; any other claim of this process was left by a failure."""

_Record = TypeVar("_Record")


class Standing(str, Enum):
    """What can be said of a lease at one look."""

    HELD = "held"
    FREE = "free"
    """Its holder gave it back."""
    ABANDONED = "abandoned"
    """Its holder was on this machine, and is gone."""
    UNCLEAR = "unclear"
    """Its holder is on another machine, or the claim can't be read: only new beats would tell."""


@dataclass(frozen=True)
class LeaseState:
    """The newest generation of a lease at one look."""

    generation: int
    state: Standing
    claim: Claim | None
    """None where it can't be read."""
    beat: Beat | None
    """None where there is none, or it can't be read."""
    beat_content: bytes | None
    """The bytes of the beat; any change in them shows that the holder is alive."""

    @property
    def job(self) -> str | None:
        """The job that claimed it."""
        return None if self.claim is None else self.claim.job

    @property
    def act(self) -> str | None:
        """What is done to the checkpoint; None for a driver, and where the claim can't be read."""
        return None if self.claim is None else self.claim.act

    @property
    def runs(self) -> bool:
        """Whether a driver of this machine is known to run now, and not just an act."""
        return self.state is Standing.HELD and self.act is None

    @property
    def ends(self) -> bool:
        """Whether its driver was killed on this machine, and only the JVM of it is left."""
        return self.state is Standing.HELD and self.holder is not None and is_orphaned(self.holder)

    @property
    def holder(self) -> Holder | None:
        """Who claimed it."""
        return None if self.claim is None else self.claim.holder

    @property
    def since(self) -> str | None:
        """When it was claimed, by the holder's clock."""
        return None if self.claim is None else self.claim.since

    @property
    def beat_age_seconds(self) -> float | None:
        """How old the last beat is if the clocks of both machines agree."""
        return None if self.beat is None else seconds_since(self.beat.written_at)

    @property
    def words(self) -> str:
        """Name who holds it for people."""
        if self.claim is None:
            return f"a process whose claim {claim_name(self.generation)} cannot be read"
        return self.claim.words


def look_at_lease(reader: PartReader) -> LeaseState | None:
    """Look at the newest generation once; None where nobody ever claimed."""
    found = generations(reader.names())
    if not found:
        return None
    newest = found[0]
    content = reader.read_many((claim_name(newest), beat_name(newest)))
    claim = _decoded(Claim, _content(content[claim_name(newest)]))
    if claim is not None and claim.generation != newest:
        claim = None
    beat_content = _content(content[beat_name(newest)])
    beat = _decoded(Beat, beat_content)
    return LeaseState(newest, _standing(claim, beat), claim, beat, beat_content)


def _standing(claim: Claim | None, beat: Beat | None) -> Standing:
    if beat is not None and beat.state is BeatState.RELEASED:
        return Standing.FREE
    if claim is None:
        return Standing.UNCLEAR
    if _is_of_this_process(claim.holder):
        return Standing.HELD if claim.token in OWN_TOKENS else Standing.ABANDONED
    return {
        Presence.HERE: Standing.HELD,
        Presence.GONE: Standing.ABANDONED,
        Presence.UNCLEAR: Standing.UNCLEAR,
    }[presence(claim.holder)]


def _is_of_this_process(holder: Holder) -> bool:
    """Whether this very process claimed it, not one before it that had the same number."""
    here = process_here(os.getpid())
    return holder.machine == this_machine() and holder.python == here and here.started is not None


def _content(read: bytes | StorageError) -> bytes | None:
    if isinstance(read, NotFoundError):
        return None
    if isinstance(read, StorageError):
        raise read
    return read


def _decoded(kind: type[_Record], content: bytes | None) -> _Record | None:
    try:
        return None if content is None else decode_document(kind, content)
    except UnreadableError:
        return None
