"""A job of the project file as it is run: paths, secrets, defaults, settings."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.errors import ProjectError, StorageError
from holdfast.jobs.discovery import load_project
from holdfast.jobs.projectfile.job import interval_seconds
from holdfast.jobs.projectfile.model import Project
from holdfast.jobs.ready import FunctionReference, ReadyJob, RestartPolicy
from holdfast.jobs.readying import ready_job
from holdfast.redaction import redact
from tests.jobs.declaring import job_text, ready_jobs

HEAD = """\
project: sensors
storage:
  s3: {region: eu-west-1, key: "${env:HOLDFAST_TEST_KEY}", secret: "${env:HOLDFAST_TEST_KEY}"}
jobs:
  orders:
"""
SOURCE = "source: {format: rate}"
SQL = "sql: select 1"
SINK = "sink: {format: console}"


def loaded(folder: Path, *lines: str, head: str = HEAD) -> Project:
    """Load a project whose one job has these lines."""
    file = folder / "holdfast.yaml"
    file.write_text(head + "".join(f"    {line}\n" for line in lines))
    return load_project(file, working_folder=folder)


def ready(folder: Path, *lines: str, head: str = HEAD) -> ReadyJob:
    """Give the job with these lines as it is run."""
    return ready_job(loaded(folder, *lines, head=head), "orders")


def test_everything_of_a_plain_job(tmp_path: Path) -> None:
    job = ready(
        tmp_path,
        'source: {format: json, path: in, schema: "id long", options: {maxFilesPerTrigger: 2}}',
        "transform: code.pipeline:clean",
        "sink: {format: delta, path: ./lake/../lake/raw/, mode: upsert, key: [id], order_by: at}",
        "trigger: {processing_time: 10 seconds}",
        "conf: {spark.sql.shuffle.partitions: 3}",
    )
    (source,) = job.sources
    assert (job.name, job.project, job.folder) == ("orders", "sensors", tmp_path)
    assert (source.name, source.format, source.path) == ("source", "json", f"{tmp_path}/in")
    assert (source.schema, source.options) == ("id long", {"maxFilesPerTrigger": "2"})
    assert source.at == "holdfast.yaml:6:5"
    assert job.transform == FunctionReference(
        "code.pipeline", "clean", tmp_path, "holdfast.yaml:7:5"
    )
    assert (job.sink.path, job.sink.key, job.sink.order_by) == (
        f"{tmp_path}/lake/raw",
        ("id",),
        "at",
    )
    assert job.sink.location is not None
    assert job.sink.location.url == job.sink.path
    assert (job.sink.at, job.at) == ("holdfast.yaml:8:5", "holdfast.yaml:5:3")
    assert (job.output_mode, job.processing_time) == ("update", "10 seconds")
    assert job.conf == {"spark.sql.shuffle.partitions": "3"}
    assert (job.checkpoint.url, job.adopted) == (f"{tmp_path}/checkpoints/orders", False)


def test_an_available_now_job_has_no_interval(tmp_path: Path) -> None:
    assert ready(tmp_path, SOURCE, SQL, SINK).processing_time is None


def test_an_adopted_checkpoint_says_so(tmp_path: Path) -> None:
    job = ready(tmp_path, SOURCE, SQL, SINK, "checkpoint: old/place")
    assert (job.checkpoint.url, job.adopted) == (f"{tmp_path}/old/place", True)


@pytest.mark.parametrize(
    ("mode", "declared", "output_mode"),
    [
        ("", "", "append"),
        (", mode: upsert, key: [id]", "", "update"),
        (", mode: complete", "", "complete"),
        (", mode: upsert, key: [id]", "output_mode: append", "append"),
    ],
)
def test_the_output_mode_follows_the_sinks(
    mode: str, declared: str, output_mode: str, tmp_path: Path
) -> None:
    sink = f"sink: {{format: delta, path: x{mode}}}"
    assert ready(tmp_path, SOURCE, SQL, sink, declared).output_mode == output_mode


@pytest.mark.parametrize(
    ("written", "spark"),
    [
        ("/a/b/../c", "/a/c"),
        ("file:///a/c/", "/a/c"),
        ("s3://bucket/a//b", "s3a://bucket/a/b"),
        ("s3n://bucket/a", "s3a://bucket/a"),
        ("s3a://bucket", "s3a://bucket"),
        ("gcs://bucket/a", "gs://bucket/a"),
        ("abfss://c@acc.dfs.core.windows.net/a", "abfss://c@acc.dfs.core.windows.net/a"),
        ("wasbs://c@acc.blob.core.windows.net/a", "abfss://c@acc.dfs.core.windows.net/a"),
        ("abfs://c@acc.dfs.core.windows.net/a", "abfs://c@acc.dfs.core.windows.net/a"),
        ("hdfs:///a/./b", "hdfs:///a/b"),
        ("viewfs://cluster/a", "viewfs://cluster/a"),
        ("/in/2024-*/{a,b}.json", "/in/2024-*/{a,b}.json"),
    ],
)
def test_places_are_in_sparks_spelling(
    written: str, spark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_KEY", "opensesame")
    job = ready(tmp_path, f'source: {{format: json, path: "{written}"}}', SQL, SINK)
    assert job.sources[0].path == spark


def test_a_container_needs_its_account(tmp_path: Path) -> None:
    lines = ("source: {format: json, path: 'az://box/a'}", SQL, SINK)
    with pytest.raises(StorageError, match="account") as raised:
        ready(tmp_path, *lines)
    assert raised.value.code.number == "HF7005"
    head = HEAD.replace("storage:\n", "storage:\n  azure: {account: acc}\n")
    job = ready(tmp_path, *lines, head=head)
    assert job.sources[0].path == "abfss://box@acc.dfs.core.windows.net/a"


@pytest.mark.parametrize(
    ("source_format", "path"),
    [("json", "{folder}/in"), ("iceberg", "in"), ("delta", "{folder}/in")],
)
def test_a_path_among_the_options_counts_where_it_is_known_to_be_one(
    source_format: str, path: str, tmp_path: Path
) -> None:
    source = f"source: {{format: {source_format}, options: {{path: in}}}}"
    job = ready(tmp_path, source, SQL, SINK)
    assert job.sources[0].options == {"path": path.format(folder=tmp_path)}


def test_several_sources_keep_their_order_and_places(tmp_path: Path) -> None:
    job = ready(
        tmp_path, "sources:", "  b: {format: rate}", "  a: {format: delta, path: x}", SQL, SINK
    )
    assert [(one.name, one.at) for one in job.sources] == [
        ("b", "holdfast.yaml:7:7"),
        ("a", "holdfast.yaml:8:7"),
    ]


def test_a_sink_that_only_spark_can_reach_has_no_location(tmp_path: Path) -> None:
    job = ready(tmp_path, SOURCE, SQL, "sink: {format: delta, path: 'dbfs:/lake/raw'}")
    assert (job.sink.path, job.sink.location) == ("dbfs:/lake/raw", None)


def test_secrets_are_filled_in_everywhere_and_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_URL", "postgresql://u:opensesame42@h/db")
    monkeypatch.setenv("HOLDFAST_TEST_PASS", "grandmothers-password")
    (tmp_path / "table").write_text("gold\n")
    job = ready(
        tmp_path,
        'source: {format: kafka, options: {kafka.sasl.password: "x${env:HOLDFAST_TEST_PASS}"}}',
        'sql: "select ${file:table} from source"',
        'sink: {format: postgres, url: "${env:HOLDFAST_TEST_URL}", table: "${file:table}"}',
        'conf: {my.password: "${env:HOLDFAST_TEST_PASS}"}',
    )
    assert job.sources[0].options == {"kafka.sasl.password": "xgrandmothers-password"}
    assert (job.sink.url, job.sink.table) == ("postgresql://u:opensesame42@h/db", "gold")
    assert (job.conf, job.sql) == (
        {"my.password": "grandmothers-password"},
        "select gold from source",
    )
    assert "grandmothers" not in redact("it was grandmothers-password")


def test_a_missing_secret_is_told_at_its_line(tmp_path: Path) -> None:
    sink = 'sink: {format: delta, path: "${env:HOLDFAST_TEST_NOT_SET}/x"}'
    with pytest.raises(ProjectError) as raised:
        ready(tmp_path, SOURCE, SQL, sink)
    assert (raised.value.code.number, raised.value.at) == ("HF1107", "holdfast.yaml:8:27")


def test_what_a_secret_holds_is_checked_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_URL", "mysql://user:opensesame42@h/db")
    sink = 'sink: {format: postgres, url: "${env:HOLDFAST_TEST_URL}", table: t}'
    with pytest.raises(ProjectError, match="postgresql://") as raised:
        ready(tmp_path, SOURCE, SQL, sink)
    assert (raised.value.code.number, raised.value.at) == ("HF1104", "holdfast.yaml:8:30")
    assert "opensesame42" not in raised.value.message


def test_only_the_jobs_own_secrets_are_asked_for(tmp_path: Path) -> None:
    other = (
        "  other:",
        "    source: {format: rate}",
        "    sql: select 1",
        '    sink: {format: postgres, url: "${env:HOLDFAST_TEST_NOT_SET}", table: t}',
    )
    project = loaded(tmp_path, SOURCE, SQL, SINK)
    (tmp_path / "holdfast.yaml").write_text(
        (tmp_path / "holdfast.yaml").read_text() + "\n".join(other) + "\n"
    )
    project = load_project(tmp_path / "holdfast.yaml")
    assert ready_job(project, "orders").sink.format == "console"


def test_storage_settings_of_checkpoint_and_sink(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_TEST_KEY", "opensesame")
    job = ready(
        tmp_path,
        SOURCE,
        SQL,
        "sink: {format: delta, path: 's3://lake/raw'}",
        "checkpoint: s3a://lake/checkpoints/orders",
    )
    wanted = {"region": "eu-west-1", "key": "opensesame", "secret": "opensesame"}
    assert job.settings.for_scheme("s3") == wanted
    assert job.sink.settings.for_scheme("s3") == wanted
    assert ready(tmp_path, SOURCE, SQL, SINK).settings.options == {}


def test_the_folder_is_absolute_wherever_the_file_was_loaded_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded(tmp_path, SOURCE, SQL, "sink: {format: delta, path: x}")
    monkeypatch.chdir(tmp_path)
    job = ready_job(load_project(Path("holdfast.yaml")), "orders")
    assert (job.folder, job.sink.path) == (tmp_path, f"{tmp_path}/x")


def test_restart_and_hook_are_ready_to_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interval in seconds, the command in words, the webhook as a secret; defaults as told."""
    monkeypatch.setenv("HOOK", "https://hooks.example.com/services/T1/most-secret")
    source, sink = "{format: rate}", "{format: console}"
    more = (
        "restart: {limit: 3, backoff: 1 minute 30 seconds}\n"
        "    on_failure: {command: \"notify --channel 'on call'\"}"
    )
    written = job_text("a", source, sink, more=more)
    web = job_text("b", source, sink, more='on_failure: {webhook: "${env:HOOK}"}')
    command, webhook = ready_jobs(tmp_path, written, web)
    assert command.restart == RestartPolicy(3, 90.0)
    assert command.on_failure is not None and webhook.on_failure is not None
    assert command.on_failure.command == ("notify", "--channel", "on call")
    assert webhook.restart == RestartPolicy(10, 5.0)
    assert webhook.on_failure.webhook == os.environ["HOOK"]
    assert "most-secret" not in redact(f"could not post to {os.environ['HOOK']}")


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("5 seconds", 5.0), ("1 Hour", 3600.0), ("interval 2 minutes 500 milliseconds", 120.5)],
)
def test_an_interval_is_counted_in_seconds(text: str, seconds: float) -> None:
    assert interval_seconds(text) == pytest.approx(seconds)
