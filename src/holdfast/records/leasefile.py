"""The two files of a generation: the claim, created once, and the beat, replaced by its owner."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum

from holdfast.records.holder import Holder

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
    """Give every generation that left a file, the newest first; a beat alone counts too."""
    found = (_NAME.fullmatch(name) for name in names)
    return tuple(sorted({int(match["generation"]) for match in found if match}, reverse=True))
