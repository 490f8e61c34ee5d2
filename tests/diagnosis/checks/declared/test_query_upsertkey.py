"""A key that leaves out columns of GROUP BY is reported before the first run, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import library
from holdfast.findings import Finding, Severity
from tests.jobs.declaring import job_text

SUMS = "select sensor, day, sum(value) as total from source group by sensor, day"


def found(folder: Path, sql: str, sink: str, output_mode: str = "update") -> list[Finding]:
    """Ask the doctor about a declared job that never ran."""
    sinked = f"{{format: delta, path: ./out, mode: upsert, {sink}}}"
    job = job_text("gold", "{format: json, path: ./in, schema: a int}", sinked)
    job = job.replace("sql: select 1", f'sql: "{sql}"')
    assert sql in job
    text = f"project: p\njobs:\n{job}    output_mode: {output_mode}\n"
    (folder / "holdfast.yaml").write_text(text, encoding="utf-8")
    answer = library.doctor("gold", project=folder / "holdfast.yaml")
    return [one for one in answer.findings if one.code == "HF2376"]


def test_a_key_without_a_grouping_column_is_reported(tmp_path: Path) -> None:
    (only,) = found(tmp_path, SUMS, "key: [sensor]")
    assert only.severity is Severity.WARNING
    assert only.message.startswith(
        "the sink's key (sensor) lacks columns that the query groups by (day, sensor)"
    )
    assert only.evidence == {"key": ["sensor"], "groups": ["day", "sensor"], "missing": ["day"]}


def test_who_orders_the_rows_of_a_key_expects_several(tmp_path: Path) -> None:
    (only,) = found(tmp_path, SUMS, "key: [Sensor], order_by: day")
    assert only.severity is Severity.INFO


@pytest.mark.parametrize(
    ("sql", "key"),
    [
        (SUMS, "sensor, day"),
        (SUMS, "day, total"),
        ("select concat(sensor, day) as id, sum(v) as s from source group by sensor, day", "id"),
        ("select concat(sensor, day) sensor, sum(v) s from source group by sensor, day", "sensor"),
        ("select sensor, window.start, count(*) as n from source group by sensor, "
         "window(t, '1 hour')", "sensor"),
        ("select sensor, day from source", "sensor"),
    ],
)  # fmt: skip
def test_what_may_distinguish_the_groups_is_not_reported(
    tmp_path: Path, sql: str, key: str
) -> None:
    """A whole key, a key that is no plain column, and a query that is not understood."""
    assert not found(tmp_path, sql, f"key: [{key}]")


def test_groups_that_are_written_once_are_not_reported(tmp_path: Path) -> None:
    """In append mode a group does not come again."""
    assert not found(tmp_path, SUMS, "key: [sensor]", "append")
