"""A checkpoint as the oracle reads it, for the rules across files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.fuzz.grammar import meaning
from tests.fuzz.kinds import Files, kinds_in
from tests.fuzz.strictness import BrokenError

MOST_IDS = 2000
"""Enough ids to see that some are missing; damaged names count up to 2^63."""


@dataclass(frozen=True)
class Broken:
    """One rule that does not hold, and the places that it speaks of."""

    rule: str
    places: frozenset[str]


@dataclass(frozen=True)
class Decoded:
    """A checkpoint as the oracle reads it."""

    files: Files
    kinds: dict[str, str]
    content: dict[str, Any]

    def numbered(self, folder: str) -> dict[int, Any]:
        """Entries of a log that could be decoded."""
        found: dict[int, Any] = {}
        for path, entry in self.content.items():
            if path.startswith(f"{folder}/") and path.count("/") == folder.count("/") + 1:
                name = path.rpartition("/")[2].removesuffix(".compact")
                if name.isdecimal() and str(int(name)) == name:
                    found[int(name)] = entry
        return found

    def ids(self, folder: str) -> list[int]:
        """Ids of a log that have a file, whether it can be decoded or not."""
        names = [path[len(folder) + 1 :] for path in self.files if path.startswith(f"{folder}/")]
        return sorted({int(one) for one in names if is_plain(one)})

    @cached_property
    def offsets(self) -> dict[int, Any]:
        """Decoded offsets entries."""
        return self.numbered("offsets")

    @cached_property
    def commits(self) -> dict[int, Any]:
        """Decoded commits."""
        return self.numbered("commits")

    @cached_property
    def steps(self) -> list[tuple[int, Any, Any]]:
        """Neighbouring offsets entries that could both be decoded."""
        pairs = ((one, self.offsets.get(one - 1), self.offsets[one]) for one in self.offsets)
        return [(one, before, after) for one, before, after in pairs if before is not None]

    @cached_property
    def committed_settings(self) -> dict[str, str]:
        """What the newest entry with a commit pins."""
        done = [one for one in self.offsets if one in self.ids("commits")]
        metadata = self.offsets[max(done)][1] if done else None
        return metadata.get("conf", {}) if metadata else {}


def is_plain(name: str) -> bool:
    """Tell whether a name is a batch id as Spark spells it."""
    return name.isascii() and name.isdecimal() and str(int(name)) == name and int(name) < 2**63


def decode(files: Files, kinds: dict[str, str]) -> Decoded:
    """Read every file that follows its grammar."""
    content: dict[str, Any] = {}
    for path, data in files.items():
        kind = kinds.get(path) or kinds_in({path: data})[path]
        try:
            content[path] = meaning(kind, path, data)
        except BrokenError:
            continue
    return Decoded(files, kinds, content)


def broken(rule: str, *places: str) -> Broken:
    """Make a report of one rule."""
    return Broken(rule, frozenset(places))


Rule = Callable[[Decoded], Iterator[Broken]]
