"""Settings that one job alone can have, and those that it can't."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import ProjectError
from tests.jobs.bad_projects import CONSOLE, GOOD
from tests.jobs.projectfile.test_model_project import load


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("spark.master", "under spark.conf"),
        ("spark.jars.packages", "under spark.conf"),
        ("spark.driver.memory", "under spark.conf"),
        ("spark.executor.cores", "under spark.conf"),
        ("spark.app.name", "under spark.conf"),
        ("spark.sql.extensions", "under spark.conf"),
        ("spark.hadoop.fs.s3a.endpoint", "use fs.s3a.endpoint"),
        ("spark.sql.streaming.checkpointLocation", "<checkpoints>/<job>"),
    ],
)
def test_a_setting_of_the_session_is_refused_at_its_line(
    name: str, word: str, tmp_path: Path
) -> None:
    with pytest.raises(ProjectError) as raised:
        load(tmp_path, GOOD + CONSOLE + f"    conf:\n      a.b: 1\n      {name}: x\n")
    assert (raised.value.code.number, raised.value.at) == ("HF1110", "holdfast.yaml:9:7")
    assert word in raised.value.message


@pytest.mark.parametrize(
    "name",
    [
        "spark.sql.shuffle.partitions",
        "spark.sql.streaming.minBatchesToRetain",
        "spark.databricks.delta.schema.autoMerge.enabled",
        "fs.s3a.endpoint",
    ],
)
def test_a_setting_of_a_query_is_taken(name: str, tmp_path: Path) -> None:
    project = load(tmp_path, GOOD + CONSOLE + f"    conf: {{{name}: 7}}\n")
    assert project.jobs["a"].conf == {name: "7"}
