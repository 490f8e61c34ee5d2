"""A TARGET is a job, a path or a URL; settings come from three places in a fixed order."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.errors import ProjectError, StorageError, UsageError
from holdfast.jobs.discovery import ProjectChoice
from holdfast.jobs.target import Target, resolve_target

PROJECT = """\
project: sensors
checkpoints: s3a://lake/checkpoints/
spark:
  conf:
    spark.hadoop.fs.s3a.endpoint: http://from-spark:9000
    spark.hadoop.fs.s3a.path.style.access: true
    spark.hadoop.fs.s3a.secret.key: ${env:HOLDFAST_TEST_S3_SECRET}
    spark.executor.memory: ${env:HOLDFAST_TEST_NOT_SET}
storage:
  s3: {region: eu-west-1, endpoint: "http://from-storage:9000"}
  hdfs: {webhdfs: "http://nn:9870", user: "${env:HOLDFAST_TEST_NOT_SET}"}
jobs:
  orders:
    source: {format: kafka}
    sql: select 1
    sink: {format: postgres, url: "${env:HOLDFAST_TEST_NOT_SET}", table: t}
  adopted:
    sources: {left: {format: rate}, right: {format: delta, path: x}}
    sql: select 1
    sink: {format: console}
    checkpoint: ./old/place
"""


@pytest.fixture(autouse=True)
def _secret(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_S3_SECRET", "target-test-secret")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a project in it, and a folder below it to work in."""
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    (tmp_path / "work").mkdir()
    return tmp_path


def resolve(text: str, folder: Path, *options: str, project: Path | None = None) -> Target:
    choice = ProjectChoice(project)
    return resolve_target(text, project=choice, storage_options=options, working_folder=folder)


def test_a_jobs_name(project: Path) -> None:
    target = resolve("orders", project / "work")
    assert (target.job, target.location.url) == ("orders", "s3://lake/checkpoints/orders")
    assert target.source_formats == {"source": "kafka"}


def test_an_adopted_checkpoint_counts_from_the_projects_folder(project: Path) -> None:
    target = resolve("adopted", project / "work")
    assert target.location.url == str(project / "old" / "place")
    assert target.source_formats == {"left": "rate", "right": "delta"}
    assert not target.settings.options


def test_settings_by_strength(project: Path) -> None:
    target = resolve("orders", project, "region=us-east-2")
    assert target.settings.for_scheme("s3") == {
        "endpoint": "http://from-storage:9000",
        "path_style": True,
        "secret": "target-test-secret",
        "region": "us-east-2",
    }


def test_a_url_takes_the_settings_of_the_project(project: Path) -> None:
    target = resolve("s3://other/place", project / "work")
    assert target.job is None
    assert target.settings.for_scheme("s3")["endpoint"] == "http://from-storage:9000"


def test_secrets_of_other_places_are_not_asked_for(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDFAST_TEST_S3_SECRET")
    assert resolve("gs://bucket/place", project).settings.options == {}


def test_a_missing_secret_of_this_place_is_told_with_its_line(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("HOLDFAST_TEST_S3_SECRET")
    with pytest.raises(ProjectError) as raised:
        resolve("orders", project)
    assert (raised.value.code.number, raised.value.at) == ("HF1107", "holdfast.yaml:7:5")
    with pytest.raises(ProjectError) as raised:
        resolve("hdfs://nn/place", project)
    assert raised.value.at == "holdfast.yaml:11:37"


def test_the_job_wins_over_a_folder_of_its_name(project: Path) -> None:
    (project / "work" / "orders").mkdir()
    assert resolve("orders", project / "work").job == "orders"
    path = resolve("./orders", project / "work")
    assert (path.job, path.location.url) == (None, str(project / "work" / "orders"))


def test_a_folder_that_is_no_job(project: Path) -> None:
    (project / "work" / "ckpt").mkdir()
    assert resolve("ckpt", project / "work").location.url == str(project / "work" / "ckpt")
    assert resolve(".", project / "work").location.url == str(project / "work")


def test_neither_a_job_nor_a_folder(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    with pytest.raises(UsageError) as raised:
        resolve("order", project)
    assert raised.value.code.number == "HF1002"
    assert "did you mean orders?" in raised.value.message
    assert "adopted, orders" in raised.value.next_steps[0]
    with pytest.raises(UsageError) as raised:
        resolve("order", tmp_path_factory.mktemp("bare"))
    assert raised.value.code.number == "HF1002"


def test_a_broken_project_stops_urls_and_names_but_not_paths(project: Path) -> None:
    (project / "holdfast.yaml").write_text("zzz: 1\n")
    (project / "ckpt").mkdir()
    assert resolve("./ckpt", project).location.is_local
    assert resolve(str(project / "ckpt"), project).location.is_local
    for text in ("s3://b/p", "ckpt", "orders"):
        with pytest.raises(ProjectError) as raised:
            resolve(text, project)
        assert raised.value.at == "holdfast.yaml:1:1"
        assert any("./ckpt" in step for step in raised.value.next_steps) == (text == "ckpt")


def test_a_project_that_was_named_is_always_read(project: Path) -> None:
    with pytest.raises(ProjectError) as raised:
        resolve("./x", project, project=project / "none.yaml")
    assert raised.value.code.number == "HF1101"
    named = resolve("orders", Path("/"), project=project / "holdfast.yaml")
    assert named.job == "orders"


@pytest.mark.parametrize("option", ["region", "=x", "endpont=x"])
def test_a_bad_storage_option(project: Path, option: str) -> None:
    with pytest.raises(StorageError) as raised:
        resolve("orders", project, option)
    assert raised.value.code.number == "HF7010"


def test_a_path_needs_neither_pydantic_nor_yaml(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from holdfast.jobs.target import resolve_target;"
        f"here = pathlib.Path({str(tmp_path)!r}); (here / 'ckpt').mkdir();"
        "[resolve_target(text, working_folder=here)"
        " for text in ('ckpt', './ckpt', 's3://bucket/place')];"
        "print(*sys.modules)"
    )
    run = [sys.executable, "-c", program]
    modules = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    assert not {"pydantic", "yaml", "fsspec"} & {*modules}
    assert "holdfast.jobs.target" in modules


@pytest.mark.parametrize("name", ["a" * 5000, "a" * 300 + "@newest"])
def test_a_name_that_is_too_long_for_a_file_is_no_bug(tmp_path: Path, name: str) -> None:
    """Nothing can be there; a pasted text is taken for a name now and then."""
    with pytest.raises(UsageError) as told:
        resolve_target(name, working_folder=tmp_path)
    assert told.value.code == "HF1002"
    with pytest.raises(ProjectError):
        resolve_target("orders", project=ProjectChoice(Path(name)), working_folder=tmp_path)
