"""The project file: what is accepted, and that every mistake is told with its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.errors import ProjectError
from holdfast.jobs.discovery import load_project
from holdfast.jobs.projectfile.declaration import Storage
from holdfast.jobs.projectfile.model import Project
from holdfast.storage.options import KNOWN_OPTIONS
from tests.jobs.bad_projects import BAD_PROJECTS, CONSOLE, GOOD, HEAD, SINK, SQL

CONTRACT = """\
project: sensors
checkpoints: ./checkpoints
spark:
  master: local[*]
  conf: {spark.sql.shuffle.partitions: 8}
  jars: []
storage:
  s3: {endpoint: "http://minio:9000", region: eu-west-1, path_style: true, profile: lake,
       key: "${env:KEY}", secret: "${env:SECRET}"}
  hdfs: {webhdfs: "http://namenode:9870", user: spark}
jobs:
  sensor-merge-gold:
    source:
      format: delta
      path: ./lake/clean
      schema: "sensor_id string, read_at timestamp, value double"
      options: {maxFilesPerTrigger: "10"}
    transform: pipeline:gold
    sink:
      format: postgres
      mode: upsert
      key: [sensor_id, read_at]
      order_by: read_at
      url: "${env:GOLD_URL}"
      table: gold
      options: {}
    output_mode: update
    trigger: {available_now: true}
    conf: {}
    checkpoint: s3a://old/place
"""


def load(folder: Path, text: str | bytes) -> Project:
    file = folder / "holdfast.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return load_project(file, working_folder=folder)


def test_the_contracts_example_loads(tmp_path: Path) -> None:
    project = load(tmp_path, CONTRACT)
    job = project.jobs["sensor-merge-gold"]
    assert (project.project, project.spark.conf) == (
        "sensors",
        {"spark.sql.shuffle.partitions": "8"},
    )
    assert job.source is not None
    assert job.source.schema_text == "sensor_id string, read_at timestamp, value double"
    assert (job.sink.key, job.sink.url) == (("sensor_id", "read_at"), "${env:GOLD_URL}")
    assert project.storage.s3.path_style is True
    assert project.checkpoint_of("sensor-merge-gold").url == "s3://old/place"


def test_defaults(tmp_path: Path) -> None:
    project = load(tmp_path, GOOD + CONSOLE)
    job = project.jobs["a"]
    assert (project.checkpoints, project.spark.master) == ("./checkpoints", "local[*]")
    assert (job.sink.mode, job.trigger.available_now, job.output_mode) == ("append", True, None)
    assert project.checkpoint_of("a").url == str(tmp_path / "checkpoints" / "a")


@pytest.mark.parametrize(
    ("trigger", "interval"),
    [
        ("{availableNow: true}", None),
        ("{once: true}", None),
        ("{processingTime: 10 seconds}", "10 seconds"),
    ],
)
def test_sparks_spellings_of_triggers(trigger: str, interval: str | None, tmp_path: Path) -> None:
    job = load(tmp_path, GOOD + CONSOLE + f"    trigger: {trigger}\n").jobs["a"]
    assert job.trigger.processing_time == interval
    assert job.trigger.available_now is (True if interval is None else None)


@pytest.mark.parametrize("name", BAD_PROJECTS)
def test_a_bad_file_is_told_with_its_place(tmp_path: Path, name: str) -> None:
    text, code, line, word = BAD_PROJECTS[name]
    with pytest.raises(ProjectError) as raised:
        load(tmp_path, text)
    error = raised.value
    assert error.code.number == code, error.message
    assert (error.at or "").startswith(f"holdfast.yaml:{line}:"), error.message
    assert word in error.message
    assert "pydantic" not in f"{error.message}{error.why}".lower()


def test_enough_is_tried() -> None:
    assert len(BAD_PROJECTS) >= 50


def test_the_first_problem_in_the_file_counts_the_others(tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as raised:
        load(tmp_path, HEAD + "jobs:\n  a: {sink: {format: x}}\nspark: {zzz: 1, master: [a]}\n")
    assert raised.value.at == "holdfast.yaml:3:22"
    assert raised.value.why.endswith("(2 more problems in this file: line 4)")


def test_column_of_a_key(tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as raised:
        load(tmp_path, SINK + "{format: console, tabel: x}\n")
    assert raised.value.at == "holdfast.yaml:6:29"


def test_values_of_the_file_are_not_shown(tmp_path: Path) -> None:
    with pytest.raises(ProjectError) as raised:
        load(tmp_path, HEAD + "storage: {s3: {path_style: hunter2, secret: opensesame}}\n")
    assert "hunter2" not in raised.value.message


@pytest.mark.parametrize(
    ("written", "text"),
    [
        *(("true", "true"), ("False", "false"), ("8", "8"), ("0.5", "0.5"), ("0.10", "0.10")),
        *(("on", "on"), ("no", "no"), ("010", "010"), ("0x1F", "0x1F"), ("1:30", "1:30")),
        *(("1e3", "1e3"), ("2024-01-01", "2024-01-01"), ("1_000", "1_000"), ("'true'", "true")),
        *(("'~'", "~"), ("!!str true", "true"), ("-1", "-1"), ("''", ""), ("a\n     b", "a b")),
    ],
)
def test_settings_are_written_as_spark_takes_them(tmp_path: Path, written: str, text: str) -> None:
    project = load(tmp_path, f"{HEAD}spark:\n  conf:\n    a.b: {written}\n")
    assert project.spark.conf == {"a.b": text}


def test_anchors_and_merges(tmp_path: Path) -> None:
    text = GOOD.replace("a:\n", "a: &base\n") + CONSOLE
    project = load(tmp_path, text + "  b:\n    <<: *base\n    sink: {format: memory}\n")
    assert project.jobs["b"].sink.format == "memory"
    assert project.jobs["b"].sql == project.jobs["a"].sql == "select 1"


def test_several_sources_keep_their_order(tmp_path: Path) -> None:
    sources = "    sources: {b: {format: rate}, a: {format: kafka}}\n"
    project = load(tmp_path, HEAD + "jobs:\n  j:\n" + sources + SQL + CONSOLE)
    assert [*project.jobs["j"].named_sources] == ["b", "a"]


def test_a_place_that_can_not_be_read_here_is_no_mistake_of_the_file(tmp_path: Path) -> None:
    text = HEAD + "checkpoints: dbfs:/c\n" + GOOD.removeprefix(HEAD) + CONSOLE
    other = "  b:" + (GOOD + CONSOLE).partition("  a:")[2]
    assert [*load(tmp_path, text + other).jobs] == ["a", "b"]


def test_the_model_is_frozen(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="frozen"):
        load(tmp_path, HEAD).project = "q"


def test_storage_knows_exactly_the_options_of_the_readers() -> None:
    declared = {
        family: {*type(getattr(Storage(), family)).model_fields} for family in Storage.model_fields
    }
    assert declared == {family: {*options} for family, options in KNOWN_OPTIONS.items()}


KEYS = st.sampled_from(
    [
        *("project", "jobs", "a", "sink", "source", "sources", "format", "mode", "key", "conf"),
        *("spark", "storage", "s3", "path", "trigger", "<<", "checkpoint", "checkpoints"),
        *("${env:A}", "1", "~"),
    ]
)
VALUES = st.sampled_from(
    ["p", "true", "", "~", "delta", "upsert", "[a]", "${x}", "*a", "&a b", "8"]
)
LINES = st.builds(
    lambda depth, dash, key, value: f"{' ' * depth}{dash}{key}: {value}",
    st.integers(0, 4).map(lambda level: level * 2),
    st.sampled_from(["", "", "", "- "]),
    KEYS,
    VALUES,
)
ANYTHING = st.one_of(
    st.text(max_size=80).map(str.encode),
    st.binary(max_size=60),
    st.lists(LINES, max_size=10).map("\n".join).map(str.encode),
    st.lists(st.sampled_from([*"[]{}:,-?&*!|>'\"#%@`a \n\t"]), max_size=30)
    .map("".join)
    .map(str.encode),
)


@settings(
    max_examples=300,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(ANYTHING)
def test_any_text_is_a_project_or_a_project_error(tmp_path: Path, text: bytes) -> None:
    try:
        assert isinstance(load(tmp_path, text), Project)
    except ProjectError as error:
        assert (error.at or "").startswith("holdfast.yaml:")
