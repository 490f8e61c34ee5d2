"""Facts read from plans of older releases equal what a first batch wrote there; see record.py."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.spark.facts.record import RELEASES

VERSIONS = ("4.0.5", "4.1.4")


def shapes_of(version: str) -> dict[str, Any]:
    """Return what was recorded on a release, by the names of the shapes."""
    recorded = json.loads((RELEASES / f"{version}.json").read_text(encoding="utf-8"))
    assert recorded["spark"] == version
    shapes: dict[str, Any] = recorded["shapes"]
    return shapes


@pytest.mark.parametrize("version", VERSIONS)
def test_the_checkpoint_has_what_was_planned(version: str) -> None:
    """Sources, operators and the schemas of their stores, in every shape."""
    shapes = shapes_of(version)
    assert [name for name, one in shapes.items() if one["planned"] != one["written"]] == []
    # Not of queries without state alone.
    assert sum(bool(one["written"]["operators"]) for one in shapes.values()) >= 14


def test_both_releases_ran_every_shape() -> None:
    """The same ones."""
    first, second = (set(shapes_of(version)) for version in VERSIONS)
    assert first == second and len(first) >= 17
