"""The project file as a tree of values with line and column, and the problems at them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.codes import code_of
from holdfast.errors import ProjectError
from holdfast.wording import counted

Plain = str | bool | tuple["Plain", ...] | dict[str, "Plain"] | None
"""What the tree holds without its marks; numbers stay texts (see yamlfile.py)."""

Path = tuple[str | int, ...]
"""Keys and positions from the root to a value."""


@dataclass(frozen=True, order=True)
class Mark:
    """A place in the file; both count from 1."""

    line: int
    column: int


def located(shown: str, mark: Mark) -> str:
    """Spell a place in a file as terminals and editors understand it."""
    return f"{shown}:{mark.line}:{mark.column}"


@dataclass(frozen=True)
class Leaf:
    """A value without parts."""

    mark: Mark
    value: str | bool | None


@dataclass(frozen=True)
class Items:
    """A list."""

    mark: Mark
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Entry:
    """One key of a mapping with its value."""

    key: str
    key_mark: Mark
    node: Node


@dataclass(frozen=True)
class Entries:
    """A mapping."""

    mark: Mark
    entries: tuple[Entry, ...]

    def get(self, key: object) -> Entry | None:
        """Return the entry with this key, None when there is none."""
        return next((entry for entry in self.entries if entry.key == key), None)


Node = Leaf | Items | Entries


def plain(node: Node) -> Plain:
    """Return the values alone, as pydantic wants them."""
    if isinstance(node, Leaf):
        return node.value
    if isinstance(node, Items):
        return tuple(plain(item) for item in node.nodes)
    return {entry.key: plain(entry.node) for entry in node.entries}


def node_of(value: Plain, mark: Mark) -> Node:
    """Return the tree of values that stand in no file: every part of it bears the same mark."""
    if isinstance(value, dict):
        return Entries(
            mark, tuple(Entry(key, mark, node_of(one, mark)) for key, one in value.items())
        )
    if isinstance(value, tuple):
        return Items(mark, tuple(node_of(one, mark) for one in value))
    return Leaf(mark, value)


def key_mark(root: Node, path: Sequence[str | int]) -> Mark:
    """Return where the last key of the path stands; as far as the path leads, if not to its end."""
    mark, node = root.mark, root
    for step in path:
        if isinstance(node, Entries) and (entry := node.get(step)):
            mark, node = entry.key_mark, entry.node
        elif isinstance(node, Items) and isinstance(step, int) and step < len(node.nodes):
            node = node.nodes[step]
            mark = node.mark
        else:
            break
    return mark


def node_at(root: Node, path: Sequence[str | int]) -> Node | None:
    """Return the value at the path, None when the path leads nowhere."""
    node: Node | None = root
    for step in path:
        if isinstance(node, Entries):
            entry = node.get(step)
            node = entry.node if entry else None
        elif isinstance(node, Items) and isinstance(step, int) and step < len(node.nodes):
            node = node.nodes[step]
        else:
            return None
    return node


def with_value(root: Node, path: Sequence[str], value: Plain) -> Node:
    """Return the tree with another value at a path of keys; None removes the key.

    What is new bears the mark of what it replaces, or of the mapping that it is added to.
    """
    key, *rest = path
    assert isinstance(root, Entries)
    known = root.get(key)
    kept = tuple(entry for entry in root.entries if entry.key != key)
    if not rest and value is None:
        return Entries(root.mark, kept)
    mark = root.mark if known is None else known.key_mark
    below = Entries(mark, ()) if known is None else known.node
    node = with_value(below, rest, value) if rest else node_of(value, mark)
    changed = Entry(key, mark, node)
    if known is None:
        return Entries(root.mark, (*kept, changed))
    return Entries(root.mark, tuple(changed if entry is known else entry for entry in root.entries))


def leaves(node: Node, path: Path = ()) -> Iterator[tuple[Path, Leaf]]:
    """Go through every value without parts, in the order of the file."""
    if isinstance(node, Leaf):
        yield path, node
    elif isinstance(node, Items):
        for position, item in enumerate(node.nodes):
            yield from leaves(item, (*path, position))
    else:
        for entry in node.entries:
            yield from leaves(entry.node, (*path, entry.key))


def keys(node: Node, path: Path = ()) -> Iterator[tuple[Path, Entry]]:
    """Go through every key of every mapping, in the order of the file."""
    if isinstance(node, Items):
        for position, item in enumerate(node.nodes):
            yield from keys(item, (*path, position))
    elif isinstance(node, Entries):
        for entry in node.entries:
            yield (*path, entry.key), entry
            yield from keys(entry.node, (*path, entry.key))


_MOST_LINES = 5


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong in a project file."""

    mark: Mark
    code: str
    message: str
    next_steps: tuple[str, ...] = ()
    """What to do, where more is known than the code's own steps say."""


def first_error(problems: Iterable[Problem], shown: str) -> ProjectError | None:
    """Make an error of the problem that stands first in the file; None when there is none."""
    ordered = sorted(problems, key=lambda problem: problem.mark)
    if not ordered:
        return None
    first, *others = ordered
    why = code_of(first.code).why
    if others:
        lines = ", ".join(dict.fromkeys(str(one.mark.line) for one in others[:_MOST_LINES]))
        lines += ", …" if len(others) > _MOST_LINES else ""
        why += f" ({counted(len(others), 'more problem')} in this file: line {lines})"
    steps = first.next_steps or code_of(first.code).next_steps
    at = located(shown, first.mark)
    return ProjectError(first.code, first.message, at=at, why=why, next_steps=steps)
