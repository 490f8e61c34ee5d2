"""What a job's declaration says of its sink, and where its output folder is."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import StorageError
from holdfast.jobs.discovery import load_project
from holdfast.jobs.target import declared_sink, resolve_place, resolve_target

HEAD = """\
project: sensors
checkpoints: s3a://lake/checkpoints
storage:
  s3: {region: eu-west-1, endpoint: "http://from-storage:9000"}
jobs:
  orders:
    source: {format: rate}
    sql: select 1
"""


def job_with(folder: Path, lines: str) -> Path:
    """Write a project whose one job has this sink."""
    file = folder / "holdfast.yaml"
    file.write_text(HEAD + "".join(f"    {line}\n" for line in lines.splitlines()))
    return file


@pytest.mark.parametrize(
    ("lines", "mode"),
    [
        ("sink: {format: delta, path: ./x}", "append"),
        ("sink: {format: delta, path: ./x, mode: upsert, key: [id]}", "update"),
        ("sink: {format: delta, path: ./x, mode: complete}", "complete"),
        ("sink: {format: delta, path: ./x}\noutput_mode: update", "update"),
    ],
)
def test_the_output_mode_follows_the_sinks_unless_it_is_declared(
    lines: str, mode: str, tmp_path: Path
) -> None:
    """As the contract has it."""
    assert declared_sink(load_project(job_with(tmp_path, lines)), "orders").output_mode == mode


@pytest.mark.parametrize(
    ("sink", "identity", "path"),
    [
        ("{format: delta, path: ./lake/gold}", "./lake/gold", "./lake/gold"),
        ('{format: delta, path: "${env:HOLDFAST_TEST_NOT_SET}/x"}', "${env:", None),
        ('{format: postgres, url: "${env:HOLDFAST_TEST_NOT_SET}", table: gold}', "gold", None),
        ("{format: custom, function: pipeline:deliver}", "pipeline:deliver", None),
        ("{format: console}", None, None),
    ],
)
def test_no_secret_is_asked_for(
    sink: str, identity: str | None, path: str | None, tmp_path: Path
) -> None:
    """A reference stays as it is written, and is no path to open."""
    found = declared_sink(load_project(job_with(tmp_path, f"sink: {sink}")), "orders")
    assert found.path == path
    assert (found.identity or "").startswith(identity or "")
    assert (found.identity is None) == (identity is None)
    assert ":9:5" in found.at


def test_a_path_from_the_environment_is_filled_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no secret; the url beside it would be."""
    monkeypatch.setenv("HOLDFAST_TEST_LAKE", "./lake-of-env")
    sink = 'sink: {format: delta, path: "${env:HOLDFAST_TEST_LAKE}/gold"}'
    found = declared_sink(load_project(job_with(tmp_path, sink)), "orders")
    assert (found.path, found.identity) == ("./lake-of-env/gold", "./lake-of-env/gold")


def test_a_place_gets_the_settings_of_its_own_kind(tmp_path: Path) -> None:
    """The project's for S3, and the options only where the target's storage is of that kind."""
    job_with(tmp_path, "sink: {format: console}")
    options = ("region=us-east-1",)
    target = resolve_target("orders", storage_options=options, working_folder=tmp_path)
    remote, settings = resolve_place(
        "s3://lake/gold", target, storage_options=options, relative_to=tmp_path
    )
    assert remote.url == "s3://lake/gold"
    assert settings.for_scheme("s3") == {
        "region": "us-east-1",
        "endpoint": "http://from-storage:9000",
    }
    local, settings = resolve_place("gold", target, storage_options=options, relative_to=tmp_path)
    assert local.url == str(tmp_path / "gold")
    assert settings.for_scheme("file") == {}


def test_a_remote_sink_of_a_local_target_finds_the_project(tmp_path: Path) -> None:
    """Though the target itself needed no project file."""
    job_with(tmp_path, "sink: {format: console}")
    target = resolve_target("./here", working_folder=tmp_path)
    assert target.project is None
    _, settings = resolve_place("s3://lake/x", target, storage_options=(), relative_to=tmp_path)
    assert settings.for_scheme("s3")["region"] == "eu-west-1"


def test_a_place_that_is_none_is_refused(tmp_path: Path) -> None:
    """With the reason."""
    target = resolve_target("./here", working_folder=tmp_path)
    with pytest.raises(StorageError, match="inside Databricks"):
        resolve_place("dbfs:/x", target, storage_options=(), relative_to=tmp_path)
