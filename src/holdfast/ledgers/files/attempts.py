"""Names the staging folders of attempts: `<batch id>-<generation>-<random>[.<epoch>]`."""

from __future__ import annotations

import re
import uuid
from typing import NamedTuple

_NAME = re.compile(
    r"(?P<batch>\d{10,})-(?P<generation>\d+)-[0-9a-f]+(?:\.(?P<epoch>[1-9]\d*))?", re.ASCII
)


class Attempt(NamedTuple):
    """One attempt at a batch."""

    batch_id: int
    generation: int
    epoch: int
    """The epoch of the manifest that may name it; 0 before anything was taken back."""


def staging_name(batch_id: int, generation: int, epoch: int = 0) -> str:
    """Return a name for a staging folder that no other attempt has."""
    name = f"{batch_id:010d}-{generation}-{uuid.uuid4().hex[:12]}"
    return f"{name}.{epoch}" if epoch else name


def attempt_of(name: str) -> Attempt | None:
    """Return the attempt that a staging folder was made for, None where it is none's."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    return Attempt(int(found["batch"]), int(found["generation"]), int(found["epoch"] or 0))
