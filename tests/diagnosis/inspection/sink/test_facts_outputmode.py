"""The output mode that is told is the one that the corpus was made with, or none is told."""

from __future__ import annotations

import pytest

from holdfast.diagnosis.inspection.evidence import Basis
from holdfast.diagnosis.inspection.sink.facts import EITHER
from tests.checkpoint.pictures import files_of, replaced, without
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus
from tests.diagnosis.doctor.gathering import declared, gathered

UPDATE = ("transform", "real-time")
COMPLETE = ("delta-totals", "aggregation-complete")


@over_samples("one", corpus())
def test_what_is_told_is_true(one: Sample) -> None:
    """From tests/corpus/shapes: transformWithState and real-time mode ran in update mode."""
    fact = gathered(one.files(), one.output_files() or None).result.output_mode
    true = (
        "complete"
        if one.name.startswith(COMPLETE)
        else "update"
        if one.name.startswith(UPDATE)
        else "append"
    )
    if fact.value is not None:
        assert true in fact.value.split(" or ")
    if one.name.startswith("transform"):
        assert (fact.value, fact.basis) == ("update", Basis.READ)
        assert fact.source.startswith("state/0/_metadata/v2")


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("stateless", EITHER),
        ("deduplicate", EITHER),
        ("join", EITHER),
        ("limit", "append"),
        ("two-operators", "append"),
        ("memory", None),
        ("session-window", None),
        ("pandas-state", None),
        ("two-kinds-of-operators", None),
    ],
)
def test_operators_tell_it_only_where_no_other_mode_fits(name: str, mode: str | None) -> None:
    """One aggregation could have run in any."""
    fact = gathered(files_of(name)).result.output_mode
    assert fact.value == mode
    assert fact.basis is (Basis.UNKNOWN if mode is None else Basis.INFERRED)


def test_an_operator_whose_name_is_lost_tells_nothing() -> None:
    """The other one alone would be taken for the whole query."""
    files = without(files_of("deduplicate"), "state/0/_metadata/metadata")
    assert gathered(files).result.output_mode.value is None


def test_a_declared_mode_comes_before_an_inferred_one() -> None:
    """But after one that was read."""
    assert gathered(files_of("stateless"), declared=declared("update")).result.output_mode == (
        gathered(files_of("memory"), declared=declared("update")).result.output_mode
    )
    transform = gathered(files_of("transform-pandas"), declared=declared("append"))
    assert transform.result.output_mode.value == "update"
    assert "HF2505" in [finding.code for finding in transform.findings]


def test_a_strange_mode_of_an_operator_is_not_believed() -> None:
    """Only the three that Spark has."""
    files = files_of("transform-pandas")
    path = "state/0/_metadata/v2/0"
    changed = files[path].replace(
        b'\\"outputMode\\":\\"Update\\"', b'\\"outputMode\\":\\"Upsert\\"'
    )
    assert changed != files[path]
    assert gathered(replaced(files, path, changed)).result.output_mode.value is None
