"""Trees of Spark's plans and expressions, from the JSON that Spark gives of them. Pure.

Spark writes a tree as a list of its nodes, each before its children. A field that names a child
holds the child's position; a field with other trees, such as the expressions of a plan, holds their
lists.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, eq=False)
class Node:
    """One node of a plan or of an expression."""

    name: str
    """The simple name of its class."""
    fields: dict[str, Any]
    """The other arguments of its constructor: plain values, trees, or lists of trees."""
    children: tuple[Node, ...]
    number: int
    """Its place among the nodes of its tree, each before its children."""
    slots: Mapping[str, Any] = field(default_factory=dict)
    """Names of constructor arguments that are children, with their positions."""

    def walk(self) -> Iterator[Node]:
        """Yield this node and those below it, each before its children."""
        yield self
        for child in self.children:
            yield from child.walk()

    def used(self) -> Iterator[Node]:
        """Yield this node and those below it, without an initial state that nobody gave."""
        yield self
        for child in self.inputs():
            yield from child.used()

    def inputs(self) -> tuple[Node, ...]:
        """Return the children whose rows it reads."""
        child = self.child("child")
        if child is not None and self.fields.get("hasInitialState") is False:
            return (child,)
        return self.children

    def child(self, name: str) -> Node | None:
        """Return the child that is this argument of the constructor."""
        position = self.slots.get(name)
        return self.children[position] if isinstance(position, int) else None

    def tree(self, name: str) -> Node | None:
        """Return the tree that is this argument, as a child or in a field."""
        found = self.fields.get(name)
        return found if isinstance(found, Node) else self.child(name)

    def trees(self, name: str) -> tuple[Node, ...]:
        """Return the trees of an argument that is a list of them."""
        positions = self.slots.get(name)
        if isinstance(positions, tuple):
            return tuple(self.children[position] for position in positions)
        found = self.fields.get(name)
        if isinstance(found, Node):
            return (found,)
        return tuple(one for one in found or () if isinstance(one, Node))

    def expressions(self) -> Iterator[tuple[tuple[str, int | None], Node]]:
        """Yield the trees in the fields, with the name of the field and the place in a list."""
        for name, value in self.fields.items():
            if isinstance(value, Node):
                yield (name, None), value
            elif isinstance(value, tuple):
                yield from (
                    ((name, place), one) for place, one in enumerate(value) if isinstance(one, Node)
                )


def parse(text: str) -> Node:
    """Return the tree of a JSON text; raise ValueError where it is none."""
    return _tree(json.loads(text))


def _tree(nodes: Sequence[Mapping[str, Any]]) -> Node:
    if not nodes:
        raise ValueError("an empty tree")
    found, after = _node(nodes, 0)
    if after != len(nodes):
        raise ValueError(f"{len(nodes) - after} nodes follow the tree")
    return found


def _node(nodes: Sequence[Mapping[str, Any]], place: int) -> tuple[Node, int]:
    given = nodes[place]
    after = place + 1
    children = []
    for _ in range(given["num-children"]):
        child, after = _node(nodes, after)
        children.append(child)
    fields, slots = _arguments(given, len(children))
    return Node(_simple(given["class"]), fields, tuple(children), place, slots), after


_USUAL = frozenset(("child", "children", "left", "right", "plan", "query"))


def _arguments(given: Mapping[str, Any], children: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Tell positions of children from plain numbers: Spark writes both in the same way.

    A child has one position, and the usual names come first: what points to a child that has its
    name already is a number.
    """
    names = [name for name in given if name not in ("class", "num-children")]
    if not children:
        return {name: _value(given[name]) for name in names}, {}
    slots: dict[str, Any] = {}
    claimed: set[int] = set()
    for name in sorted(names, key=lambda one: one not in _USUAL):
        value = given[name]
        listed = value if isinstance(value, list) else [value]
        positions = {*listed} if _all_numbers(listed) else set()
        # Equal children share the position of the first: `a + a` has left 0 and right 0.
        free = {*range(children)} if name in _USUAL else {*range(children)} - claimed
        if positions and positions <= free:
            claimed |= positions
            slots[name] = tuple(value) if isinstance(value, list) else value
    return {name: _value(given[name]) for name in names if name not in slots}, slots


def _all_numbers(values: Sequence[object]) -> bool:
    return all(isinstance(one, int) and not isinstance(one, bool) for one in values)


def _value(value: Any) -> Any:
    if isinstance(value, list):
        if value and all(_is_node(one) for one in value):
            return _tree(value)
        return tuple(_value(one) for one in value)
    if isinstance(value, dict) and "product-class" in value:
        return {name: _value(one) for name, one in value.items()}
    return value


def _is_node(value: object) -> bool:
    return isinstance(value, dict) and "class" in value and "num-children" in value


def _simple(name: str) -> str:
    return name.rpartition(".")[2].rpartition("$")[2] or name.rpartition(".")[2].strip("$")


_TRANSPARENT = frozenset(
    (
        *("Alias", "KnownNullable", "KnownNotNull", "KnownFloatingPointNormalized"),
        *("NormalizeNaNAndZero", "OuterReference", "TempResolvedColumn", "CheckOverflow"),
        *("PromotePrecision", "KnownNotContainsNull"),
    )
)
"""Expressions that give their operand as it is."""


def unwrapped(node: Node) -> Node:
    """Return the expression below those that give it as it is, or that Spark puts in its place."""
    while node.children:
        if node.name in _TRANSPARENT:
            node = node.children[0]
        elif isinstance(node.slots.get("replacement"), int):
            node = node.children[node.slots["replacement"]]
        else:
            break
    return node
