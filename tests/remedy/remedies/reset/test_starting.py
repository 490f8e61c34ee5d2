"""Starting offsets become the options that each source understands."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from holdfast.errors import PlanError
from holdfast.remedy.remedies.reset.starting import starting_of
from tests.spark.readyjobs import job, source

KAFKA = {"subscribe": "orders", "startingTimestamp": "17"}
DELTA = {"startingVersion": "3"}


@pytest.mark.parametrize(
    ("form", "options", "given", "laid_over"),
    [
        ("kafka", KAFKA, "latest", {"startingTimestamp": None, "startingOffsets": "latest"}),
        ("kafka", {}, '{"orders": {"0": 5}}', {"startingOffsets": '{"orders": {"0": 5}}'}),
        ("delta", DELTA, "earliest", {"startingVersion": None}),
        ("delta", DELTA, "latest", {"startingVersion": "latest"}),
        ("delta", DELTA, '{"startingVersion": 5}', {"startingVersion": "5"}),
        (
            "delta", DELTA, '{"startingTimestamp": "2026-01-31"}',
            {"startingVersion": None, "startingTimestamp": "2026-01-31"},
        ),
    ],
)  # fmt: skip
def test_each_source_gets_its_own_options(
    tmp_path: Path,
    form: str,
    options: Mapping[str, str],
    given: str,
    laid_over: Mapping[str, str | None],
) -> None:
    made = job(tmp_path, source(form, "/lake", options=options))
    assert starting_of(made, given) == {"source": laid_over}
    assert starting_of(made, None) == {}


@pytest.mark.parametrize(
    ("form", "given"),
    [
        ("json", "earliest"), ("rate", "latest"), ("kafka", "yesterday"), ("kafka", "[1]"),
        ("kafka", '{"orders": 5}'), ("kafka", '{"orders": {"0": "5"}}'), ("kafka", "{}"),
        ("delta", '{"version": 5}'), ("delta", '{"startingVersion": true}'), ("delta", "{}"),
        ("kafka", "[" * 100_000),
    ],
)  # fmt: skip
def test_what_a_source_does_not_understand_is_refused(
    tmp_path: Path, form: str, given: str
) -> None:
    with pytest.raises(PlanError) as refused:
        starting_of(job(tmp_path, source(form, "/lake")), given)
    assert refused.value.code.number == "HF4643"


def test_a_misspelt_offset_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="did you mean earliest") as refused:
        starting_of(job(tmp_path, source("kafka")), "earlist")
    assert refused.value.exit_status == 2


def test_several_sources_take_it_only_if_each_can(tmp_path: Path) -> None:
    made = job(tmp_path, source("kafka", name="a"), source("parquet", "/lake", name="b"))
    with pytest.raises(PlanError):
        starting_of(made, "latest")
