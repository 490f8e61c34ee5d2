"""The settings of one job in a session of its own, and those that cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ProjectError
from holdfast.spark.session.opening import session_for
from tests.spark.readyjobs import job

pytestmark = pytest.mark.spark


@pytest.mark.parametrize(
    ("name", "words", "instead"),
    [
        (
            "spark.sql.shufle.partitions",
            "Spark does not know spark.sql.shufle.partitions; did you mean "
            "spark.sql.shuffle.partitions?",
            "spark.sql.shuffle.partitions",
        ),
        (
            "spark.sql.streaming.statestore.rocksdb.blockSizeKB",
            "Spark does not know spark.sql.streaming.statestore.rocksdb.blockSizeKB; did you mean "
            "spark.sql.streaming.stateStore.rocksdb.blockSizeKB?",
            "spark.sql.streaming.stateStore.rocksdb.blockSizeKB",
        ),
        ("acme.speed", "Spark does not know acme.speed, so it cannot be set for one job", None),
        (
            "spark.sql.catalogImplementation",
            "spark.sql.catalogImplementation cannot be changed for one job",
            None,
        ),
    ],
)
def test_a_setting_that_cannot_be_one_job_s(
    spark: Any, tmp_path: Path, name: str, words: str, instead: str | None
) -> None:
    """It is said whether Spark knows it; what the step names is accepted."""
    one = replace(job(tmp_path), conf={name: "3"})
    with pytest.raises(ProjectError) as told:
        session_for(one, spark, {})
    assert told.value.code == "HF1104" and told.value.message == f"jobs.{one.name}.conf: {words}"
    if instead is not None:
        assert told.value.next_steps == (f"write {instead}",)
        own = session_for(replace(one, conf={instead: "3"}), spark, {})
        assert own.conf.get(instead) == "3" and spark.conf.get(instead, None) != "3"
    else:
        assert "under spark.conf" in told.value.next_steps[0]
        session_for(replace(one, conf={}), spark, {name: "3"})


CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"


def test_a_setting_of_rocksdb_state_is_one_job_s(spark: Any, tmp_path: Path) -> None:
    """Spark does not list it, and a query takes it from its session all the same."""
    own = session_for(replace(job(tmp_path), conf={CHANGELOG: "true"}), spark, {})
    assert (own.conf.get(CHANGELOG), spark.conf.get(CHANGELOG, None)) == ("true", None)
    opened = session_for(job(tmp_path), spark, {CHANGELOG: "true"})
    assert (opened.conf.get(CHANGELOG), spark.conf.get(CHANGELOG, None)) == ("true", None)
