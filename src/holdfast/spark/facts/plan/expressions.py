"""Normal forms of expressions, in a spelling like SQL's. Pure.

Attributes are replaced by what defines them, aliases vanish, operands of commutative operators are
sorted, `b < a` is `a > b`. Two expressions with equal texts mean the same; a text that differs may
still mean the same.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from holdfast.errors import DecodeError
from holdfast.format.state.schema import type_text
from holdfast.redaction import names_secret
from holdfast.spark.facts.plan.conditions import (
    Infix,
    among,
    equals_constants,
    is_literal,
    operands,
    wrapped,
)
from holdfast.spark.facts.plan.literals import folds, literal
from holdfast.spark.facts.plan.structs import unpacked
from holdfast.spark.facts.plan.tree import Node, unwrapped
from holdfast.spark.facts.plan.windows import session_window, span, time_window, window_time
from holdfast.spark.facts.texts import digest, without_secrets

Lookup = Callable[[int, str], str]
"""Returns the normal form of an attribute by its id and name."""
Subquery = Callable[[Node], str]
"""Returns the normal form of a plan inside of an expression."""

_COMMUTATIVE = {
    "Add": "+",
    "Multiply": "*",
    "BitwiseAnd": "&",
    "BitwiseOr": "|",
    "BitwiseXor": "^",
}
_OPERATORS = {
    "Subtract": "-",
    "Divide": "/",
    "Remainder": "%",
    "IntegralDivide": "DIV",
    "TimeAdd": "+",
    "TimestampAddInterval": "+",
}
_ADDS_TIME = frozenset(("TimeAdd", "TimestampAddInterval"))
_EQUALITIES = {"EqualTo": "=", "EqualNullSafe": "<=>"}
_ORDERS = {"LessThan": "<", "LessThanOrEqual": "<=", "GreaterThan": ">", "GreaterThanOrEqual": ">="}
_NEGATED = {
    "LessThan": "GreaterThanOrEqual",
    "GreaterThanOrEqual": "LessThan",
    "GreaterThan": "LessThanOrEqual",
    "LessThanOrEqual": "GreaterThan",
}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_NAMES = {
    "Average": "avg",
    "HyperLogLogPlusPlus": "approx_count_distinct",
    "StddevSamp": "stddev",
    "VarianceSamp": "variance",
    "DateFormatClass": "date_format",
    "TruncTimestamp": "date_trunc",
    "JsonToStructs": "from_json",
    "StructsToJson": "to_json",
    "Length": "length",
    "StringTrim": "trim",
    "UnixTimestamp": "to_unix_timestamp",
}
WITHOUT_MEANING = frozenset(
    (
        *("exprId", "resultId", "metadata", "qualifier", "timeZoneId", "evalMode", "hideSeed"),
        *(
            "ansiEnabled",
            "failOnError",
            "nullOnOverflow",
            "queryContext",
            "mode",
            "explicitMetadata",
        ),
        *("mutableAggBufferOffset", "inputAggBufferOffset", "initialInputBufferOffset"),
        *("nonInheritableMetadataKeys", "parameters", "child", "left", "right", "children", "func"),
        *("randomSeed", "evalContext", "context", "errorOnDuplicateKeys", "useStringTypeWhenEmpty"),
        *("inputEncoders", "outputEncoder", "udfDeterministic", "evalType", "legacySizeOfNull"),
        *("nullOrdering", "sameOrderExpressions", "replacement", "legacyNegativeIndex"),
    )
)
"""Arguments that change nothing, or that stand among the settings."""
CONSTANTS = "constants"
"""A field that an `InSet` is given: the texts of what it compares with."""
_UNITS_OF_TIME = frozenset(("TruncTimestamp", "TruncDate"))
"""Functions that take the name of a unit in capital or small letters."""
_RANDOM = {"Rand": "rand", "Randn": "randn"}


def type_of(kind: object) -> str:
    """Return the spelling of a type's JSON."""
    try:
        return type_text(kind)
    except DecodeError:
        return str(kind)


def expression_id(node: Node) -> int | None:
    """Return the id of a named expression."""
    found = node.fields.get("exprId")
    return found.get("id") if isinstance(found, Mapping) else None


def snake(name: str) -> str:
    """Return the name of a function by the name of its class."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


class Speller:
    """Spells expressions; collects what it can't compare."""

    def __init__(self, lookup: Lookup, subquery: Subquery) -> None:
        self._lookup = lookup
        self._subquery = subquery
        self._variables: dict[int, str] = {}
        self._shared: Node | None = None
        self.hidden: set[str] = set()
        """What a text does not show, in words."""

    def text(self, node: Node) -> str:
        """Return the normal form of an expression."""
        node = unwrapped(node)
        special = _SPECIAL.get(node.name)
        return self._function(node) if special is None else special(self, node)

    def conjuncts(self, node: Node) -> list[str]:
        """Return what a condition joins with AND, sorted."""
        return sorted({*self._flat(node, "And")})

    def _flat(self, node: Node, name: str) -> list[str]:
        node = unwrapped(node)
        if node.name == "With":
            with self._sharing(node):
                return self._flat(node.children[0], name)
        if node.name == name:
            return [one for child in node.children for one in self._flat(child, name)]
        return [self.text(node)]

    def _operand(self, node: Node) -> str:
        return wrapped(self.text(node))

    def _attribute(self, node: Node) -> str:
        number = expression_id(node)
        name = str(node.fields.get("name"))
        return self._lookup(-1 if number is None else number, name)

    def _literal(self, node: Node) -> str:
        return literal(node.fields.get("value"), type_of(node.fields.get("dataType")), self.hidden)

    def _cast(self, node: Node) -> str:
        (child,) = node.children
        target = type_of(node.fields.get("dataType"))
        inner = unwrapped(child)
        if inner.name == "Literal":
            value, kind = inner.fields.get("value"), type_of(inner.fields.get("dataType"))
            if folds(value, kind, target):
                return literal(value, target, self.hidden)
        if inner.name in _ADDS_TIME and target.startswith("timestamp"):
            return self.text(child)
        text = self.text(child)
        named = "TRY_CAST" if node.fields.get("evalMode") == "TRY" else "CAST"
        return f"{named}({text} AS {target})"

    def _junction(self, node: Node) -> str:
        word = "AND" if node.name == "And" else "OR"
        found = self._flat(node, "And") if node.name == "And" else self._alternatives(node)
        parts = sorted({*found})
        return parts[0] if len(parts) == 1 else Infix(f" {word} ".join(map(wrapped, parts)))

    def _alternatives(self, node: Node) -> Iterator[str]:
        """Yield what a condition joins with OR; `a = 1 OR a = 2` is `a IN (1, 2)`."""
        known: dict[str, set[str]] = {}
        for one in operands(node, "Or"):
            column, constants = equals_constants(one)
            if column is None:
                yield self.text(one)
            else:
                several = known.setdefault(self._operand(column), set())
                several |= {self._compared(each, column) for each in constants}
        for column_text, several in known.items():
            yield among(column_text, several)

    def _commutative(self, node: Node) -> str:
        first, second = sorted(self._operand(child) for child in node.children)
        return self._checked(node, Infix(f"{first} {_COMMUTATIVE[node.name]} {second}"))

    def _operator(self, node: Node) -> str:
        first, second = (self._operand(child) for child in node.children)
        return self._checked(node, Infix(f"{first} {_OPERATORS[node.name]} {second}"))

    def _checked(self, node: Node, text: str) -> str:
        return f"try({text})" if node.fields.get("evalMode") == "TRY" else text

    def _comparison(self, node: Node, *, negated: bool = False) -> str:
        sign = _EQUALITIES.get(node.name) or _ORDERS[node.name]
        left, right = node.children
        first, second = self._compared(left, right), self._compared(right, left)
        if is_literal(left) != is_literal(right):
            turned = is_literal(left)
        else:
            turned = first > second if sign in ("=", "<=>") else sign in (">", ">=")
        if turned:
            first, second, sign = second, first, _TURNED.get(sign, sign)
        return Infix(f"{first} {'!=' if negated else sign} {second}")

    def _compared(self, node: Node, other: Node) -> str:
        """Spell an operand; a constant that a column for secrets is compared with, as a digest."""
        text = self._operand(node)
        if is_literal(node) and not is_literal(other):
            name = self.text(other).rpartition(".")[2]
            if names_secret(name) and text.startswith("'"):
                return f"'{digest(text)}'" if "sha256:" not in text else text
        return text

    def _not(self, node: Node) -> str:
        inner = unwrapped(node.children[0])
        if inner.name == "Not":
            return self.text(inner.children[0])
        if inner.name in _NEGATED:
            return self._comparison(replace(inner, name=_NEGATED[inner.name]))
        if inner.name == "EqualTo":
            return self._comparison(inner, negated=True)
        if inner.name == "IsNull":
            return Infix(f"{self._operand(inner.children[0])} IS NOT NULL")
        if inner.name == "IsNotNull":
            return Infix(f"{self._operand(inner.children[0])} IS NULL")
        if inner.name in ("In", "InSet"):
            return self._in(inner, negated=True)
        return Infix(f"NOT {self._operand(inner)}")

    def _null(self, node: Node) -> str:
        word = "IS NULL" if node.name == "IsNull" else "IS NOT NULL"
        return Infix(f"{self._operand(node.children[0])} {word}")

    def _in(self, node: Node, *, negated: bool = False) -> str:
        value, *several = node.children
        texts = {self._compared(one, value) for one in several}
        if node.name == "InSet":
            listed = node.fields.get(CONSTANTS)
            if not isinstance(listed, tuple):
                self.hidden.add(f"the constants that {self.text(value)} is compared with")
            texts = {*listed} if isinstance(listed, tuple) else texts
        return among(self._operand(value), texts, negated=negated)

    def _case(self, node: Node, spell: Callable[[Node], str] | None = None) -> str:
        spell = spell or self.text
        is_whole = len(node.children) % 2 == 0
        branches = node.children if is_whole else node.children[:-1]
        pairs = zip(branches[::2], branches[1::2], strict=True)
        cases = " ".join(f"WHEN {self.text(when)} THEN {spell(then)}" for when, then in pairs)
        return f"CASE {cases}{'' if is_whole else f' ELSE {spell(node.children[-1])}'} END"

    def _field(self, node: Node) -> str:
        name = node.fields.get("name")
        if name is None:
            ordinal = node.fields.get("ordinal", node.slots.get("ordinal"))
            name = f"[{ordinal}]"
        owner = self._operand(node.children[0])
        found = unpacked(owner, str(name))
        if found is None:
            return f"{owner}.{name}"
        return Infix(found) if " " in found else found

    def _struct(self, node: Node) -> str:
        found = time_window([node]) or session_window(node)
        if found is not None:
            return self.window(found)
        return f"named_struct({', '.join(self.text(child) for child in node.children)})"

    def window(self, found: tuple[str, Node, tuple[str | Node, ...]]) -> str:
        """Return the text of a window that a pattern found."""
        name, column, rest = found
        parts = [one if isinstance(one, str) else self._gap(one) for one in rest]
        return f"{name}({', '.join((self.text(column), *parts))})"

    def _gap(self, node: Node) -> str:
        """Spell a span of time that rows decide: texts of spans in one spelling."""
        node = unwrapped(node)
        value = node.fields.get("value")
        if node.name == "Literal" and isinstance(value, str):
            return span(value)
        if node.name == "Cast" and type_of(node.fields.get("dataType")) == "interval":
            return self._gap(node.children[0])
        if node.name in ("If", "CaseWhen"):
            return self._case(node, self._gap)
        return self.text(node)

    def _conversion(self, node: Node) -> str:
        window = window_time(node)
        if window is not None:
            return f"window_time({self.text(window)})"
        return self._function(node)

    def _aggregate(self, node: Node) -> str:
        function = node.tree("aggregateFunction")
        text = self.text(function) if function is not None else "?"
        if node.fields.get("isDistinct"):
            text = text.replace("(", "(DISTINCT ", 1)
        condition = node.tree("filter")
        if condition is not None:
            text += f" FILTER (WHERE {self.text(condition)})"
        return text

    def _sort_order(self, node: Node) -> str:
        way = _object(node.fields.get("direction")).removesuffix("ending").upper()
        nulls = _object(node.fields.get("nullOrdering")).removeprefix("Nulls").upper()
        return f"{self.text(node.children[0])} {way} NULLS {nulls}"

    def _python(self, node: Node) -> str:
        return f"{node.fields.get('name')}({', '.join(map(self.text, node.children))})"

    def _scala(self, node: Node) -> str:
        name = node.fields.get("udfName") or "scala function"
        self.hidden.add(f"the code of the Scala function {name}")
        return f"{name}({', '.join(map(self.text, node.children))})"

    def _lambda(self, node: Node) -> str:
        arguments = node.trees("arguments") or node.children[1:]
        names = [self._variable(one) for one in arguments]
        return f"({', '.join(names)}) -> {self.text(node.children[0])}"

    def _variable(self, node: Node) -> str:
        number = expression_id(node)
        key = -1 if number is None else number
        return self._variables.setdefault(key, f"x{len(self._variables)}")

    def _query(self, node: Node) -> str:
        plan = node.fields.get("plan") or node.fields.get("query")
        inner = self._subquery(plan) if isinstance(plan, Node) else "?"
        operands = ", ".join(map(self.text, node.children))
        return f"{snake(node.name)}({', '.join(filter(None, (operands, inner)))})"

    def _common(self, node: Node) -> str:
        with self._sharing(node):
            return self.text(node.children[0])

    @contextmanager
    def _sharing(self, node: Node) -> Iterator[None]:
        """Spell an expression that Spark evaluates once at the places where it is used."""
        definitions = [one for one in node.children if one.name == "CommonExpressionDef"]
        before = self._shared
        self._shared = definitions[0] if len(definitions) == 1 else None
        try:
            yield
        finally:
            self._shared = before

    def _common_reference(self, node: Node) -> str:
        if self._shared is None:
            self.hidden.add(f"an expression of type {type_of(node.fields.get('dataType'))}")
            return "?"
        return self.text(self._shared.children[0])

    def _random(self, node: Node) -> str:
        if node.fields.get("hideSeed"):
            return f"{_RANDOM[node.name]}()"
        return f"{_RANDOM[node.name]}({', '.join(map(self.text, node.children))})"

    def _function(self, node: Node) -> str:
        name = _NAMES.get(node.name) or snake(node.name)
        arguments = [self.text(child) for child in node.children]
        if node.name in _UNITS_OF_TIME:
            arguments = [one.upper() if one.startswith("'") else one for one in arguments]
        for field, value in node.fields.items():
            if field in WITHOUT_MEANING:
                continue
            if value is None:
                self.hidden.add(f"the argument {field} of {name}")
            elif value not in ((), {}, False):
                arguments.append(f"{snake(field)} => {self._argument(value)}")
        # A number that is as small as a place among children was taken for one.
        spare = {one for one in node.slots if one not in WITHOUT_MEANING and one in _COUNTS}
        arguments += [f"{snake(one)} => {node.slots[one]}" for one in sorted(spare)]
        return f"{name}({', '.join(arguments)})"

    def _argument(self, value: Any) -> str:
        if isinstance(value, Node):
            return self.text(value)
        if isinstance(value, tuple):
            return f"[{', '.join(map(self._argument, value))}]"
        if isinstance(value, Mapping):
            if "object" in value:
                return _object(value)
            return type_of(value) if "type" in value else self._product(value)
        return without_secrets(str(value))

    def _product(self, value: Mapping[str, Any]) -> str:
        if "jvmId" in value or str(value.get("product-class")).endswith(".ExprId"):
            return "{}"
        shown = (
            f"{name}: {self._argument(one)}"
            for name, one in value.items()
            if name != "product-class"
        )
        return f"{{{', '.join(shown)}}}"


_COUNTS = frozenset(("ordinal", "scale", "limit", "num", "precision"))


def _object(value: object) -> str:
    """Return the simple name of an object of Scala."""
    name = value.get("object", "") if isinstance(value, Mapping) else ""
    return str(name).rstrip("$").rpartition(".")[2].rpartition("$")[2]


_SPECIAL: Mapping[str, Callable[[Speller, Node], str]] = {
    **dict.fromkeys(("AttributeReference", "UnresolvedAttribute"), Speller._attribute),
    "Literal": Speller._literal,
    **dict.fromkeys(("Cast", "AnsiCast", "UpCast"), Speller._cast),
    **dict.fromkeys(("And", "Or"), Speller._junction),
    **dict.fromkeys(_COMMUTATIVE, Speller._commutative),
    **dict.fromkeys(_OPERATORS, Speller._operator),
    **dict.fromkeys((*_EQUALITIES, *_ORDERS), Speller._comparison),
    "Not": Speller._not,
    **dict.fromkeys(("IsNull", "IsNotNull"), Speller._null),
    **dict.fromkeys(("In", "InSet"), Speller._in),
    **dict.fromkeys(("If", "CaseWhen"), Speller._case),
    "GetStructField": Speller._field,
    "CreateNamedStruct": Speller._struct,
    "PreciseTimestampConversion": Speller._conversion,
    "AggregateExpression": Speller._aggregate,
    "SortOrder": Speller._sort_order,
    **dict.fromkeys(("PythonUDF", "PythonUDAF", "PythonUDTF"), Speller._python),
    **dict.fromkeys(("ScalaUDF", "ScalaAggregator", "ScalaUDAF"), Speller._scala),
    "LambdaFunction": Speller._lambda,
    "NamedLambdaVariable": Speller._variable,
    **dict.fromkeys(
        ("ScalarSubquery", "Exists", "ListQuery", "InSubquery", "DynamicPruningSubquery"),
        Speller._query,
    ),
    **dict.fromkeys(_RANDOM, Speller._random),
    "With": Speller._common,
    "CommonExpressionRef": Speller._common_reference,
}
