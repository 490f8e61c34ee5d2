"""Another place that a plan writes to: the one that a checkpoint is moved to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from holdfast.backup.access import Records
from holdfast.errors import NotFoundError
from holdfast.storage.location import Location


@dataclass(frozen=True)
class Elsewhere:
    """A place with what is kept next to it, opened and not read yet."""

    location: Location
    records: Records

    def is_free(self) -> bool:
        """Whether nothing is there, neither files nor records."""
        try:
            items = self.records.checkpoint.list().whole()
        except NotFoundError:
            items = ()
        return not items and not self.records.folder.names()


OpenElsewhere = Callable[[str], Elsewhere]
"""Opens a place by its path or URL."""
