"""What plans and descriptions in event logs say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.format.eventlogs import (
    operators_of,
    output_mode_of,
    source_of,
    watermarks_of,
)
from tests.eventlogs.loading import query_of


@pytest.mark.parametrize(
    ("description", "kind", "identity"),
    [
        ("FileStreamSource[s3a://lake/in]", "file", {"path": "s3a://lake/in"}),
        ("FileStreamSource[file:/in/a[1-3].json]", "file", {"path": "file:/in/a[1-3].json"}),
        ("DeltaSource[file:/lake/clean]", "delta", {"path": "file:/lake/clean"}),
        ("KafkaV2[Subscribe[orders, refunds]]", "kafka", {"subscribe": "orders,refunds"}),
        ("KafkaV2[SubscribePattern[or.*]]", "kafka", {"subscribePattern": "or.*"}),
        ("RateStreamV2[rowsPerSecond=1]", "rate", {}),
        ("com.acme.Queue[orders]", "unknown", {}),
        ("", "unknown", {}),
    ],
)
def test_sources(description: str, kind: str, identity: dict[str, str]) -> None:
    found = source_of(description)
    assert (found.kind, found.identity) == (kind, identity)


def test_an_aggregation(tmp_path: Path) -> None:
    _, query = query_of("totals", tmp_path)
    assert operators_of(query) == ((0, "stateStoreSave"),)
    assert output_mode_of(query) == "update"
    assert watermarks_of(query) == (("at", 600_000),)


def test_a_query_without_state_shows_no_output_mode(tmp_path: Path) -> None:
    _, query = query_of("copied", tmp_path)
    assert (operators_of(query), output_mode_of(query), watermarks_of(query)) == ((), None, ())


def test_several_watermarks_are_in_no_known_order(tmp_path: Path) -> None:
    _, query = query_of("joined", tmp_path)
    assert operators_of(query) == ((0, "symmetricHashJoin"),)
    assert watermarks_of(query) is None


def test_without_a_plan_little_is_known(tmp_path: Path) -> None:
    _, query = query_of("totals", tmp_path)
    bare = replace(query, plan=None)
    assert (output_mode_of(bare), watermarks_of(bare)) == (None, None)
    assert operators_of(bare) == ((0, "stateStoreSave"),), "a single one has id 0"
    assert operators_of(replace(bare, operators=("a", "b"))) is None
    assert operators_of(replace(bare, operators=None)) is None
