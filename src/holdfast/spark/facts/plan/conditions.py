"""Conditions on constants, and the text of operators with their operands. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from holdfast.spark.facts.plan.tree import Node, unwrapped


class Infix(str):
    """The text of an operator with its operands: in parentheses where it is an operand itself."""

    __slots__ = ()


def operands(node: Node, name: str) -> Iterator[Node]:
    """Yield what a chain of one operator joins."""
    node = unwrapped(node)
    if node.name != name:
        yield node
        return
    for child in node.children:
        yield from operands(child, name)


def equals_constants(node: Node) -> tuple[Node | None, tuple[Node, ...]]:
    """Return what is compared with constants alone, and these; None for any other condition."""
    if node.name == "EqualTo":
        first, second = sorted(node.children, key=is_literal)
        if is_literal(second) and not is_literal(first):
            return first, (second,)
    if node.name == "In" and all(map(is_literal, node.children[1:])):
        return node.children[0], node.children[1:]
    return None, ()


def among(column: str, constants: Collection[str], *, negated: bool = False) -> str:
    """Return the condition that a column is one of some constants, or none of them."""
    if len(constants) == 1:
        return Infix(f"{column} {'!=' if negated else '='} {next(iter(constants))}")
    word = "NOT IN" if negated else "IN"
    return Infix(f"{column} {word} ({', '.join(sorted(constants))})")


def wrapped(text: str) -> str:
    """Return the text of an operand."""
    return f"({text})" if isinstance(text, Infix) else text


def is_literal(node: Node) -> bool:
    """Tell whether an expression is a constant, of whatever type it is made."""
    node = unwrapped(node)
    while node.name == "Cast":
        node = unwrapped(node.children[0])
    return node.name == "Literal"
