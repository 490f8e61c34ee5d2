"""Says, by the oracles alone, what a damage did and where a finding may point."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Any

from tests.fuzz.cases import Case
from tests.fuzz.grammar import follows, meaning
from tests.fuzz.kinds import FOREIGN, SIDE, kinds_in, side_of
from tests.fuzz.rules import broken_rules
from tests.fuzz.strictness import BrokenError


class Effect(str, Enum):
    """What a damage did to the checkpoint, the first that holds."""

    GRAMMAR = "breaks the grammar of a file"
    RULE = "breaks a rule across files"
    SILENT = "follows every grammar and rule"
    SAME = "means the same"
    UNREAD = "touches nothing that Spark reads"


@dataclass(frozen=True)
class Expectation:
    """What the oracles say of one case."""

    effect: Effect
    kind: str
    """The kind of the damaged file."""
    traced: bool
    """A checksum of Hadoop's lies there that shows the damage."""
    places: frozenset[str]
    """Where a finding may point: the damaged files, and what a broken rule compares them with."""
    own_places: frozenset[str]
    """The damaged files alone, with their checksums and, for removed ones, their folders."""
    change: str
    """The sort of change, for those that nothing shows."""
    rules: frozenset[str]
    """The rules across files that are broken."""


def expect(case: Case) -> Expectation:
    """Compare the damaged files with what they were."""
    before, after = case.base.files, case.files
    touched = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
    kinds = {**kinds_in(after), **kinds_in(before)}
    read = [path for path in touched if kinds[path] not in (SIDE, FOREIGN) and path[-1] != "/"]
    # Spark goes on without its own checksum file, so that a removed one changes nothing.
    read = [path for path in read if kinds[path] != "Spark checksum" or path in after]
    read = [path for path in read if path in before or not _never_opened(path, before)]
    broken = broken_rules(after, kinds)
    own = {*touched, *map(side_of, touched), *_folders_of_removed(case, read)}
    own |= _folders_added(case, touched)
    compared = {place for rule in broken for place in rule.places}
    wrong = [path for path in read if path in after and not follows(kinds[path], path, after[path])]
    changed = [path for path in read if not _same(kinds[path], path, before, after)]
    effect = _effect(wrong, bool(broken), changed, read)
    subject = (wrong or changed or read or touched)[0]
    return Expectation(
        effect,
        kinds[subject],
        traced=any(side_of(path) in after for path in changed),
        places=frozenset(own | compared),
        own_places=frozenset(own),
        change=_change(kinds[subject], subject, before, after),
        rules=frozenset(one.rule for one in broken),
    )


_STATE_FILE = re.compile(r"state/(\d+)/(\d+)/.*\.(?:delta|snapshot|zip|changelog)")


def _never_opened(path: str, before: dict[str, bytes]) -> bool:
    """An added state file of a partition or operator that the query does not have."""
    found = _STATE_FILE.fullmatch(path)
    if found is None:
        return False
    return not any(known.startswith(f"state/{found[1]}/{found[2]}/") for known in before)


def _effect(wrong: list[str], broken: bool, changed: list[str], read: list[str]) -> Effect:
    if wrong:
        return Effect.GRAMMAR
    if broken:
        return Effect.RULE
    if changed:
        return Effect.SILENT
    return Effect.SAME if read else Effect.UNREAD


def _folders_of_removed(case: Case, read: list[str]) -> set[str]:
    """A missing file may be reported as a lack of its folder."""
    folders: set[str] = set()
    for path in read:
        if path not in case.files:
            parts = path.split("/")
            folders |= {"/".join(parts[:count]) for count in range(1, len(parts))}
    return folders


def _folders_added(case: Case, touched: list[str]) -> set[str]:
    """A file in a folder that was not there before may be reported by that folder."""
    folders: set[str] = set()
    for path in touched:
        parts = path.rstrip("/").split("/")
        heads = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        known = tuple(case.base.files)
        folders |= {one for one in heads if not any(old.startswith(f"{one}/") for old in known)}
    return folders


def _same(kind: str, path: str, before: dict[str, bytes], after: dict[str, bytes]) -> bool:
    if path not in before or path not in after:
        return False
    try:
        return bool(meaning(kind, path, before[path]) == meaning(kind, path, after[path]))
    except BrokenError:
        return False


def _change(kind: str, path: str, before: dict[str, bytes], after: dict[str, bytes]) -> str:
    if path not in after:
        return "a file removed"
    if path not in before:
        return "a file added"
    try:
        return _difference(meaning(kind, path, before[path]), meaning(kind, path, after[path]))
    except BrokenError:
        return "broken"


def _difference(old: Any, new: Any) -> str:
    """Name the sort of the only difference between two values."""
    sorts = set(_differences(old, new))
    return sorts.pop() if len(sorts) == 1 else "several values changed" if sorts else "nothing"


def _differences(old: Any, new: Any) -> list[str]:
    if old == new:
        return []
    if isinstance(old, dict) and isinstance(new, dict):
        if set(old) != set(new):
            return [_counted("a field", len(old), len(new))]
        return [sort for key in old for sort in _differences(old[key], new[key])]
    if isinstance(old, list | tuple) and isinstance(new, list | tuple):
        if len(old) != len(new):
            return [_counted("an item", len(old), len(new))]
        return [sort for a, b in zip(old, new, strict=True) for sort in _differences(a, b)]
    if isinstance(old, bytes):
        return ["content of a state file"]
    return ["a number changed" if isinstance(old, int) else "a text changed"]


def _counted(what: str, old: int, new: int) -> str:
    return f"{what} {'removed' if new < old else 'added' if new > old else 'renamed'}"
