"""Trees from the JSON of plans."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.spark.facts.plan.tree import parse


def node(name: str, children: int = 0, **fields: Any) -> dict[str, Any]:
    """Give one node as Spark writes it."""
    return {"class": f"org.apache.spark.{name}", "num-children": children, **fields}


def test_children_follow_their_parents() -> None:
    """Numbers count the nodes, each before its children."""
    tree = parse(
        json.dumps([node("A", 2, left=0, right=1), node("B", 1, child=0), node("C"), node("D")])
    )
    assert [one.name for one in tree.walk()] == ["A", "B", "C", "D"]
    assert [one.number for one in tree.walk()] == [0, 1, 2, 3]
    right = tree.child("right")
    assert right is not None and right.name == "D"


def test_a_number_is_no_child() -> None:
    """Spark writes positions of children and plain numbers in the same way."""
    tree = parse(json.dumps([node("GetStructField", 1, child=0, ordinal=0), node("B")]))
    assert tree.fields == {"ordinal": 0} and tree.slots == {"child": 0}
    limit = parse(json.dumps([node("LocalLimit", 1, limit=0, child=0), node("B")]))
    assert limit.fields == {"limit": 0}


def test_equal_children_share_a_position() -> None:
    """Both of `a + a` are there."""
    tree = parse(json.dumps([node("Add", 2, left=0, right=0), node("A"), node("A")]))
    assert tree.child("right") is tree.children[0] and len(tree.children) == 2


def test_trees_in_fields() -> None:
    """One of them, and a list of them."""
    inner = [node("Alias", 1, child=0), node("Literal", value="1", dataType="integer")]
    tree = parse(json.dumps([node("Project", projectList=[inner, inner], condition=inner)]))
    assert [one.name for one in tree.trees("projectList")] == ["Alias", "Alias"]
    condition = tree.tree("condition")
    assert condition is not None and condition.children[0].fields["value"] == "1"
    assert [place for (_, place), _ in tree.expressions()] == [0, 1, None]


def test_an_initial_state_that_nobody_gave_is_not_used() -> None:
    """Spark puts an empty relation there."""
    nodes = [node("T", 2, child=0, initialState=1, hasInitialState=False), node("A"), node("B")]
    assert [one.name for one in parse(json.dumps(nodes)).used()] == ["T", "A"]
    nodes[0]["hasInitialState"] = True
    assert [one.name for one in parse(json.dumps(nodes)).used()] == ["T", "A", "B"]


def test_what_is_no_tree_is_refused() -> None:
    """Too few nodes, and too many."""
    for given in ("[]", json.dumps([node("A"), node("B")])):
        with pytest.raises(ValueError, match="tree"):
            parse(given)
