"""A job's name as TARGET: its place, its storage and its declared sources come from the project."""

from __future__ import annotations

import inspect
import json
from importlib import import_module
from pathlib import Path

import pytest

import holdfast as library
from holdfast.cli.main import COMMANDS
from holdfast.records.folder import records_of
from holdfast.records.starts import Attempts
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.cli.running import holdfast
from tests.corpus.loading import sample
from tests.parts.silence import silent_server
from tests.records.test_starts_attempts import some_attempt

PROJECT = """\
project: sensors
checkpoints: ./places
jobs:
  readings:
    source: {format: socket, options: {host: localhost, port: "9999"}}
    sql: select * from source
    sink: {format: console}
  never-ran:
    source: {format: rate}
    sql: select * from source
    sink: {format: console}
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one job that ran and one that did not."""
    sample("socket", "4.3.0").extract(tmp_path / "unpacked")
    (tmp_path / "places").mkdir()
    (tmp_path / "unpacked" / "checkpoint").rename(tmp_path / "places" / "readings")
    (tmp_path / "holdfast.yaml").write_text(PROJECT)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_job_is_found_by_its_name(project: Path) -> None:
    """And the declared format tells a socket from a memory stream."""
    result = holdfast("inspect", "readings", "--json").document["result"]
    assert result["location"] == str(project / "places" / "readings")
    assert result["sources"][0]["kind"] == "socket"
    assert result["sources"][0]["basis"] == "declared"


def test_a_job_that_never_ran_starts_fresh(project: Path) -> None:
    """No folder yet is no error for a job."""
    answered = holdfast("inspect", "never-ran", "--json")
    assert answered.status == 0
    assert answered.document["result"]["next_start"]["action"] == "fresh"


@pytest.mark.parametrize("command", ["evidence", "state", "backup"])
def test_a_job_without_a_checkpoint_has_not_run_yet(project: Path, command: str) -> None:
    """Its path is right: no advice to check the spelling."""
    answered = holdfast(command, "never-ran", "--json")
    error = answered.document["error"]
    assert (answered.status, error["code"]) == (21, "HF7001")
    assert error["message"] == "job never-ran has not run yet: its checkpoint does not exist"
    assert error["next"] == ["holdfast run never-ran"]
    by_path = holdfast(command, str(project / "places" / "never-ran"), "--json").document["error"]
    assert "spelling" in by_path["next"][0]


def test_a_first_start_that_failed_is_named_where_no_checkpoint_is(project: Path) -> None:
    """`status` and `evidence` lead to the same page as `run` did."""
    place = parse_location(str(project / "places" / "never-ran"))
    attempts = Attempts(records_of(place, StorageSettings()))
    attempts.write(some_attempt(1))
    attempts.write(some_attempt(2, exit_status=22, code="HF2601"))
    error = holdfast("evidence", "never-ran", "--json").document["error"]
    assert error["message"].endswith("Z: HF3013 the table is gone")
    assert error["next"] == ["put the output back", "holdfast explain HF3013"]


def test_a_job_whose_checkpoint_was_deleted_has_run(project: Path) -> None:
    """What its runs left beside it says so."""
    (project / "places" / ".holdfast" / "never-ran" / "runs").mkdir(parents=True)
    (project / "places" / ".holdfast" / "never-ran" / "runs" / "000001.json").write_text("{}")
    answered = holdfast("state", "never-ran", "--json")
    assert "has not run yet" not in answered.document["error"]["message"]


def test_an_unknown_job_names_the_nearest(project: Path) -> None:
    """Status 2."""
    shown = holdfast("inspect", "reading")
    assert shown.status == 2
    assert "HF1002" in shown.err
    assert "readings" in shown.err


def test_a_broken_project_file_is_located(project: Path) -> None:
    """Line and nearest key; status 10."""
    (project / "holdfast.yaml").write_text(PROJECT.replace("checkpoints:", "checkpoint:", 1))
    shown = holdfast("inspect", "readings")
    assert shown.status == 10
    assert "HF1103" in shown.err
    assert "holdfast.yaml:2" in shown.err
    assert "checkpoints" in shown.err


def test_whatever_reads_the_project_takes_a_profile() -> None:
    """Commands and public functions alike."""
    for name in COMMANDS:
        command = import_module(f"holdfast.cli.commands.{name}").command
        options = {option for one in command.params for option in one.opts}
        assert ("--project" in options) == ("--profile" in options), name
    functions = [one for one in library.__all__ if inspect.isfunction(getattr(library, one))]
    assert {"run", "doctor", "restore"} <= {*functions}
    for name in functions:
        parameters = inspect.signature(getattr(library, name)).parameters
        assert ("project" in parameters) == ("profile" in parameters), name


def test_a_profile_decides_where_a_job_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The option wins over the environment."""
    monkeypatch.chdir(tmp_path)
    Path("holdfast.yaml").write_text(
        "project: p\njobs:\n  a: {source: {format: rate}, sql: select 1, sink: {format: console}}\n"
        "profiles:\n  dev: {checkpoints: ./of-dev}\n  prod: {checkpoints: ./of-prod}\n"
    )
    monkeypatch.setenv("HOLDFAST_PROFILE", "dev")
    for words, place in (((), "of-dev"), (("--profile", "prod"), "of-prod")):
        told = json.loads(holdfast("inspect", "a", *words, "--json").out)
        assert told["result"]["location"].endswith(f"/{place}/a")
    told = json.loads(holdfast("inspect", "a", "--profile", "", "--json").out)
    assert told["result"]["location"].endswith("/checkpoints/a")
    assert holdfast("status", "--profile", "none-such").status == 2


def test_a_directory_stands_for_the_project_file_in_it(
    project: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And one without a project file says so."""
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(elsewhere)
    found = holdfast("inspect", "readings", "--project", str(project), "--json")
    assert found.document["result"]["location"] == str(project / "places" / "readings")
    assert holdfast("status", "--project", str(project)).status == 0
    refused = holdfast("status", "--project", str(elsewhere))
    assert refused.status == 10
    assert f"the directory {elsewhere} contains no holdfast.yaml" in refused.err


@pytest.mark.parametrize("command", ["inspect", "doctor", "status", "evidence", "state", "backup"])
def test_a_file_in_place_of_a_checkpoint(project: Path, command: str) -> None:
    """It is called a file, and what was expected is named."""
    (project / "places" / "never-ran").write_text("x", encoding="utf-8")
    shown = holdfast(command, "never-ran")
    assert shown.status == (3 if command == "status" else 21)
    text = " ".join((shown.out + shown.err).split())
    assert "HF7016" in text
    assert "this is a file, not a directory" in text
    assert "give the directory that holds offsets/ and commits/" in text


def test_a_delta_table_that_is_gone_is_not_a_file_sink(project: Path) -> None:
    """The doctor speaks of the table, not of _spark_metadata."""
    delta = PROJECT.replace("sink: {format: console}", "sink: {format: delta, path: ./gold}", 1)
    (project / "holdfast.yaml").write_text(delta)
    found = holdfast("doctor", "readings", "--json").document["findings"]
    (finding,) = [one for one in found if one["code"] in ("HF2248", "HF2407")]
    assert finding["code"] == "HF2248"
    assert "no Delta table here" in finding["message"]
    assert "_spark_metadata" not in str(finding)


@pytest.mark.parametrize("words", [["doctor"], ["evidence"], ["plan", "resume"]], ids=" ".join)
def test_a_database_that_does_not_answer_is_waited_for_once(
    project: Path, words: list[str]
) -> None:
    """Each command asks it several things, and says in the end that it did not answer."""
    with silent_server() as silence:
        (project / "holdfast.yaml").write_text(
            PROJECT.replace(
                "{format: console}",
                "{format: postgres, table: raw, "
                f'url: "postgresql://u@127.0.0.1:{silence.port}/d"}}',
                1,
            )
        )
        answered = holdfast(*words, "readings", "--json")
        assert len(silence.callers) == 1
    assert "connection timeout expired" in json.dumps(answered.document)
