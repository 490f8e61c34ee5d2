"""Reads a YAML file to a tree in which every key and value knows its line and column.

A value means what it looks like, not what YAML 1.1 makes of it:

- `true` and `false` (also True, TRUE) are truths, `null`, `~` and nothing at all are nothing;
- everything else is the text as it was written: `on`, `no`, `0.5`, `1e3`, `010`, `1:30`,
  `2024-01-01`. No number is ever rewritten, so that Spark gets `8` for 8 and `0.10` for 0.10;
- what stands in quotes is text, always.

Anchors, aliases and merge keys (`<<`) work; an own key counts more than a merged one. A key that
is duplicated, a tag, a second document, and whatever grows beyond a person's file are errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from holdfast.errors import ProjectError
from holdfast.jobs.projectfile.tree import Entries, Entry, Items, Leaf, Mark, Node, located

_LARGEST_FILE = 1_048_576
_DEEPEST = 32
_MOST_NODES = 50_000
_TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_NOTHING = frozenset({"", "~", "null", "Null", "NULL"})
_TEXT_TAGS = (None, "!", "tag:yaml.org,2002:str")
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# libyaml's parser is many times quicker; both give the same events with the same marks.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_yaml(file: Path, shown: str) -> Node | None:
    """Read the file's one document; None when there is nothing in it."""
    text = _text_of(file, shown)
    try:
        return _Composer(yaml.parse(text, Loader=_LOADER), shown).document()
    except yaml.MarkedYAMLError as failure:
        mark = failure.problem_mark or failure.context_mark
        place = Mark(mark.line + 1, mark.column + 1) if mark else Mark(1, 1)
        raise _not_yaml(_problem(failure, text, place), shown, place) from failure
    except yaml.YAMLError as failure:
        raise _not_yaml("it cannot be parsed", shown, Mark(1, 1)) from failure


def _text_of(file: Path, shown: str) -> str:
    try:
        with file.open("rb") as opened:
            data = opened.read(_LARGEST_FILE + 1)
    except OSError as failure:
        reason = (failure.strerror or "unknown reason").lower()
        message = f"the project file {shown} cannot be read: {reason}"
        raise ProjectError("HF1101", message, at=shown) from failure
    if len(data) > _LARGEST_FILE:
        raise _not_yaml("it is larger than 1 MiB", shown, Mark(1, 1))
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        place = _mark_at(data[: failure.start].decode("utf-8", "replace"))
        raise _not_yaml("it is not UTF-8", shown, place) from failure
    if odd := _UNPRINTABLE.search(text):
        character = f"U+{ord(odd[0]):04X}"
        place = _mark_at(text[: odd.start()])
        raise _not_yaml(f"it contains the control character {character}", shown, place)
    return text


def _mark_at(before: str) -> Mark:
    return Mark(before.count("\n") + 1, len(before) - before.rfind("\n"))


def _not_yaml(why: str, shown: str, mark: Mark) -> ProjectError:
    return ProjectError("HF1102", f"the project file is not usable: {why}", at=located(shown, mark))


def _problem(failure: yaml.MarkedYAMLError, text: str, place: Mark) -> str:
    lines = text.splitlines()
    line = lines[place.line - 1] if place.line <= len(lines) else ""
    if "\t" in line[: len(line) - len(line.lstrip())]:
        return "a tab is used where YAML requires spaces"
    return f"YAML {failure.problem or failure.context or 'is broken here'}"


class _Composer:
    """Makes the tree from the parser's events, and counts what it makes."""

    def __init__(self, events: Iterator[yaml.Event], shown: str) -> None:
        self._events = events
        self._shown = shown
        self._anchors: dict[str, tuple[Node, int]] = {}
        self._count = 0

    def document(self) -> Node | None:
        """Return the one document, None for an empty stream."""
        root: Node | None = None
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                if root is not None:
                    raise self._refuse("a second document begins here", event)
                root = self._node(next(self._events), 1)
        return None if isinstance(root, Leaf) and root.value is None else root

    def _node(self, event: yaml.Event, depth: int) -> Node:
        if isinstance(event, yaml.AliasEvent):
            return self._aliased(event)
        if depth > _DEEPEST:
            raise self._refuse(f"it is nested deeper than {_DEEPEST} levels", event)
        if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            raise self._refuse("a value is missing", event)
        before = self._count
        self._add(1, event)
        node = self._made(event, depth)
        if event.anchor:
            self._anchors[event.anchor] = (node, self._count - before)
        return node

    def _made(self, event: yaml.ScalarEvent | yaml.CollectionStartEvent, depth: int) -> Node:
        if isinstance(event, yaml.ScalarEvent):
            return self._leaf(event)
        if event.tag not in (None, "!"):
            raise self._refuse("tags are not supported", event)
        if isinstance(event, yaml.SequenceStartEvent):
            nodes = [self._node(item, depth + 1) for item in self._until(yaml.SequenceEndEvent)]
            return Items(_mark(event), tuple(nodes))
        return Entries(_mark(event), self._entries(depth))

    def _until(self, end: type[yaml.Event]) -> Iterator[yaml.Event]:
        while not isinstance(event := next(self._events), end):
            yield event

    def _leaf(self, event: yaml.ScalarEvent) -> Leaf:
        if event.tag not in _TEXT_TAGS:
            raise self._refuse("tags are not supported", event)
        text = event.value
        if not _is_plain(event):
            return Leaf(_mark(event), text)
        return Leaf(_mark(event), None if text in _NOTHING else _TRUTHS.get(text, text))

    def _entries(self, depth: int) -> tuple[Entry, ...]:
        own: dict[str, Entry] = {}
        merged: dict[str, Entry] = {}
        for event in self._until(yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise self._refuse("a key must be a plain string", event)
            key, mark = event.value, _mark(event)
            node = self._node(next(self._events), depth + 1)
            if key == "<<" and _is_plain(event):
                merged = {**self._merged(node, event), **merged}
                continue
            if key in own:
                raise self._twice(key, mark, own[key].key_mark)
            own[key] = Entry(key, mark, node)
        return tuple({**own, **{key: merged[key] for key in merged if key not in own}}.values())

    def _merged(self, node: Node, event: yaml.Event) -> dict[str, Entry]:
        nodes = node.nodes if isinstance(node, Items) else (node,)
        entries: dict[str, Entry] = {}
        for each in nodes:
            if not isinstance(each, Entries):
                raise self._refuse("<< merges mappings only", event)
            entries = {**{entry.key: entry for entry in each.entries}, **entries}
        self._add(len(entries), event)
        return entries

    def _aliased(self, event: yaml.AliasEvent) -> Node:
        if event.anchor not in self._anchors:
            raise self._refuse(f"the alias *{event.anchor} has no anchor before it", event)
        node, size = self._anchors[event.anchor]
        self._add(size, event)
        return node

    def _add(self, nodes: int, event: yaml.Event) -> None:
        self._count += nodes
        if self._count > _MOST_NODES:
            raise self._refuse(f"it contains more than {_MOST_NODES:,} values", event)

    def _refuse(self, why: str, event: yaml.Event) -> ProjectError:
        return _not_yaml(why, self._shown, _mark(event))

    def _twice(self, key: str, mark: Mark, first: Mark) -> ProjectError:
        message = f"duplicate key {key}; the first is in line {first.line}"
        return ProjectError("HF1106", message, at=located(self._shown, mark))


def _is_plain(event: yaml.ScalarEvent) -> bool:
    """Return whether the scalar has neither quotes nor a tag, so that its look decides its kind."""
    return bool(event.implicit[0])


def _mark(event: yaml.Event) -> Mark:
    mark = event.start_mark
    return Mark(mark.line + 1, mark.column + 1) if mark else Mark(1, 1)
