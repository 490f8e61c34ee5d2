"""Normal forms of expressions: which differ, and which do not."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.spark.facts.plan.expressions import Speller
from holdfast.spark.facts.plan.literals import literal
from holdfast.spark.facts.plan.tree import Node
from holdfast.spark.facts.texts import LONGEST, bounded, option_value


def node(kind: str, /, *children: Node, **fields: Any) -> Node:
    """Give an expression."""
    usual = ("left", "right") if len(children) == 2 else ("child",)
    slots = dict(zip(usual, range(len(children)), strict=False))
    return Node(kind, fields, children, 0, slots)


def column(name: str) -> Node:
    """Give an attribute whose id is its name's length."""
    return node("AttributeReference", name=name, exprId={"id": len(name)}, dataType="long")


def number(value: int, kind: str = "integer") -> Node:
    """Give a constant."""
    return node("Literal", value=str(value), dataType=kind)


def text(value: str) -> Node:
    """Give a constant."""
    return node("Literal", value=value, dataType="string")


def cast(child: Node, kind: str, **fields: Any) -> Node:
    """Give a cast."""
    return node("Cast", child, dataType=kind, **fields)


def spelled(expression: Node) -> str:
    """Give the normal form over the columns of a source."""
    return Speller(lambda _, name: f"s.{name}", lambda _: "?").text(expression)


A, BB, TOKEN = column("a"), column("bb"), column("token")
ONE, ZERO = number(1), number(0)

CASES: dict[str, tuple[Node, str]] = {
    "alias": (node("Alias", A, name="x", exprId={"id": 9}), "s.a"),
    "sum": (node("Add", BB, A), "s.a + s.bb"),
    "difference": (node("Subtract", BB, A), "s.bb - s.a"),
    "nested": (node("Multiply", node("Add", A, BB), A), "(s.a + s.bb) * s.a"),
    "greater": (node("GreaterThan", A, BB), "s.bb < s.a"),
    "greater than a constant": (node("GreaterThan", A, ONE), "s.a > 1"),
    "a constant first": (node("LessThanOrEqual", ONE, A), "s.a >= 1"),
    "equal": (node("EqualTo", BB, A), "s.a = s.bb"),
    "not equal": (node("Not", node("EqualTo", BB, A)), "s.a != s.bb"),
    "not at most": (node("Not", node("LessThanOrEqual", A, ONE)), "s.a > 1"),
    "not less than a column": (node("Not", node("LessThan", A, BB)), "s.bb <= s.a"),
    "not not": (node("Not", node("Not", node("EqualTo", BB, A))), "s.a = s.bb"),
    "one of one": (node("In", A, ONE), "s.a = 1"),
    "or of constants": (
        node("Or", node("EqualTo", A, ONE), node("EqualTo", ZERO, A)),
        "s.a IN (0, 1)",
    ),
    "or of two columns": (
        node("Or", node("EqualTo", A, ONE), node("EqualTo", BB, ZERO)),
        "(s.a = 1) OR (s.bb = 0)",
    ),
    "or with a list": (
        node("Or", node("In", A, ONE, ZERO), node("EqualTo", number(2), A)),
        "s.a IN (0, 1, 2)",
    ),
    "a whole number as double": (node("Cast", number(2), dataType="double"), "2.0D"),
    "a unit of time": (node("TruncTimestamp", text("hour"), A), "date_trunc('HOUR', s.a)"),
    "not in": (node("Not", node("In", A, ONE, ZERO)), "s.a NOT IN (0, 1)"),
    "not null": (node("Not", node("IsNull", A)), "s.a IS NOT NULL"),
    "and": (
        node("And", node("And", node("IsNotNull", BB), node("IsNull", A)), node("IsNull", A)),
        "(s.a IS NULL) AND (s.bb IS NOT NULL)",
    ),
    "a wider constant": (node("EqualTo", A, cast(ONE, "long")), "s.a = 1L"),
    "a cast of a column": (cast(A, "string"), "CAST(s.a AS string)"),
    "a cast that may fail": (cast(A, "string", evalMode="TRY"), "TRY_CAST(s.a AS string)"),
    "case": (
        node("CaseWhen", node("IsNull", A), ONE, ZERO),
        "CASE WHEN s.a IS NULL THEN 1 ELSE 0 END",
    ),
    "a field": (node("GetStructField", A, ordinal=0, name="x"), "s.a.x"),
    "a function with an argument": (
        node("First", A, ignoreNulls=True),
        "first(s.a, ignore_nulls => True)",
    ),
    "an aggregate": (
        node(
            "AggregateExpression", node("Sum", A), isDistinct=True, aggregateFunction=node("Sum", A)
        ),
        "sum(DISTINCT s.a)",
    ),
    "random numbers": (node("Rand", number(42, "long"), hideSeed=True), "rand()"),
    "random numbers from a seed": (node("Rand", number(42, "long")), "rand(42L)"),
    "a Python function": (node("PythonUDF", A, name="f", func=None, evalType=100), "f(s.a)"),
}


@pytest.mark.parametrize("name", CASES)
def test_the_normal_form(name: str) -> None:
    """One spelling for what means the same."""
    expression, wanted = CASES[name]
    assert spelled(expression) == wanted


def test_what_is_not_shown_is_said() -> None:
    """An argument that Spark does not write, and the code of a function in Scala."""
    speller = Speller(lambda _, name: name, lambda _: "?")
    speller.text(node("SomeFunction", A, schedule=None))
    speller.text(node("ScalaUDF", A, udfName="f", function=None))
    assert speller.hidden == {
        "the argument schedule of some_function",
        "the code of the Scala function f",
    }


def test_constants() -> None:
    """With their types, where their texts do not show them."""
    assert literal("1", "int") == "1" and literal("1", "bigint") == "1L"
    assert literal("1", "double") == "1.0D" and literal("1.5", "decimal(2,1)") == "1.5BD"
    assert literal(None, "void") == "NULL" and literal(None, "int") == "CAST(NULL AS int)"
    assert literal("60000000", "interval minute") == "INTERVAL '1 minute'"
    assert literal("14", "interval year to month") == "INTERVAL '14 months'"
    assert literal("TIMESTAMP '2026-01-01'", "timestamp") == "TIMESTAMP '2026-01-01'"
    hidden: set[str] = set()
    assert literal("[B@6f1c29b7", "binary", hidden) == "BINARY '[B'" and hidden


def test_secrets_in_constants_are_digests() -> None:
    """By the column that they are compared with, and by their looks."""
    compared = spelled(node("EqualTo", text("hunter2hunter2"), TOKEN))
    assert compared.startswith("s.token = 'sha256:")
    assert compared != spelled(node("EqualTo", TOKEN, text("other-than-that")))
    assert "AKIA" not in spelled(text("password=AKIAABCDEFGHIJKLMNOP"))
    assert spelled(node("EqualTo", A, text("plain"))) == "s.a = 'plain'"


def test_long_texts_are_cut_with_a_digest() -> None:
    """Texts that differ at their ends still do."""
    first, second = (bounded("x" * LONGEST + end) for end in ("a", "b"))
    assert first != second and len(first) < LONGEST + 100
    assert bounded("short") == "short"


def test_options() -> None:
    """Of a secret only the digest is a fact."""
    assert option_value("path", "/data") == "/data"
    assert option_value("kafka.ssl.key.password", "x1y2z3").startswith("sha256:")
