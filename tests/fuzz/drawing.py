"""What an operator gets to damage a checkpoint with: its files and seeded choices."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.fuzz.kinds import FOREIGN, SIDE, kinds_in, side_of

TEXT_KINDS = frozenset(
    {"metadata", "offsets", "commits", "source log", "operator metadata", "Spark checksum"}
)
JSON_LINES = frozenset({"offsets", "commits", "source log", "operator metadata"})


@dataclass
class Drawing:
    """One case in the making."""

    files: dict[str, bytes]
    random: random.Random
    donor: Callable[[], dict[str, bytes]]
    """Gives the files of another checkpoint."""
    kinds: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.kinds = kinds_in(self.files)

    def path(self, among: frozenset[str] | None = None) -> str | None:
        """Choose a kind of file that Spark reads, then one of its files."""
        by_kind: dict[str, list[str]] = {}
        for path, kind in self.kinds.items():
            if kind not in (SIDE, FOREIGN) and (among is None or kind in among):
                by_kind.setdefault(kind, []).append(path)
        if not by_kind:
            return None
        return self.random.choice(sorted(by_kind[self.random.choice(sorted(by_kind))]))

    def changed(self, path: str, data: bytes) -> dict[str, bytes]:
        """Give the files with one of them rewritten behind the back of its checksum."""
        return {**self.files, path: data}

    def without(self, *paths: str) -> dict[str, bytes]:
        """Give the files without some of them, and without the checksums of those."""
        gone = {*paths, *map(side_of, paths)}
        return {path: data for path, data in self.files.items() if path not in gone}

    def ids(self, folder: str) -> list[int]:
        """Ids of the batches in a log."""
        names = (path.rpartition("/") for path in self.files)
        return sorted(
            int(name) for parent, _, name in names if parent == folder and name.isdecimal()
        )

    def log(self) -> str:
        """Choose one of the two logs."""
        return self.random.choice(("offsets", "commits"))

    def position(self, data: bytes) -> int:
        """Choose a place between the first byte and the last."""
        return self.random.randrange(len(data)) if data else 0


Operator = Callable[[Drawing], "dict[str, bytes] | None"]
"""Gives the damaged files, None where the checkpoint has nothing of this sort to damage."""
