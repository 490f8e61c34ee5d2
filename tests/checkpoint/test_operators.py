"""Operators and stores against what Spark's own state-metadata reader said."""

from __future__ import annotations

from holdfast.checkpoint.operators import operators_of
from tests.checkpoint.pictures import files_of, picture_of
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus

WITH_OPERATORS = [one for one in corpus() if one.facts.get("operators")]


@over_samples("one", WITH_OPERATORS)
def test_operators_are_those_that_spark_lists(one: Sample) -> None:
    """Ids, names and stores of every operator that `state-metadata` reported."""
    found = {operator.id: operator for operator in operators_of(picture_of(dict(one.files())))}
    for row in one.facts["operators"]:
        operator = found[row["operatorId"]]
        assert operator.name == row["operatorName"]
        names = {store.name for store in operator.stores}
        assert row["stateStoreName"] in names or row["stateStoreName"] == "default"


def test_schema_and_versions_are_told() -> None:
    """Columns in Spark's own spelling; batch b writes version b + 1."""
    picture = picture_of(files_of("deduplicate"))
    (operator,) = operators_of(picture)
    (store,) = operator.stores
    assert store.versions is not None
    assert picture.newest_offsets_id is not None
    assert store.versions[1] == picture.newest_offsets_id + 1
    assert store.key_schema
    assert store.value_schema is not None
    assert store.value_schema[0].type_text == "void"


def test_column_families_are_shown_one_by_one() -> None:
    """A transformWithState store holds several variables."""
    one = next(one for one in corpus() if one.name == "transform-pandas")
    (operator, *_) = operators_of(picture_of(dict(one.files())))
    assert len(operator.stores) > 2


def test_spark_3_5_leaves_operators_without_names() -> None:
    """Nothing recorded them; the view says so with null."""
    (operator,) = operators_of(picture_of(files_of("deduplicate", "3.5.9")))
    assert operator.name is None
    assert operator.partitions == 2
