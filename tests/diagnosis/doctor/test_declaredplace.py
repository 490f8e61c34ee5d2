"""A job whose checkpoint lies at a temporary place: what is advised can be followed."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

import holdfast
from holdfast.findings import Severity
from holdfast.jobs import checkpointpath
from holdfast.jobs.projectfile.model import read_project
from holdfast.jobs.readying import ready_job
from holdfast.jobs.registry import remember_checkpoint
from holdfast.running.admission import emptied
from tests.cli.running import holdfast as command
from tests.corpus.loading import sample

_PROJECT = """\
project: shop
checkpoints: {checkpoints}
jobs:
  ingest:
    source: {{format: json, path: ./in, schema: "n int"}}
    sql: select * from source
    sink: {{format: parquet, path: ./out}}
"""


def only_temporary(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let one folder be the only temporary one: the tests are in one themselves."""
    monkeypatch.setattr(checkpointpath, "_TEMPORARY_FOLDERS", (str(folder),))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))


def found_at(file: Path, checkpoints: str) -> list[Severity]:
    """Give how bad the doctor finds the place of the job's checkpoint."""
    file.write_text(_PROJECT.format(checkpoints=checkpoints), encoding="utf-8")
    answer = holdfast.doctor("ingest", project=file)
    return [one.severity for one in answer.findings if one.code == "HF2302"]


def warned_at_start(file: Path) -> list[str]:
    """Give what a run says of the place of the job's checkpoint."""
    ready = ready_job(read_project(file, str(file)), "ingest")
    return [one.code for one in emptied(ready)]


def test_a_relative_path_into_a_temporary_folder_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also through a link, at `doctor` and at `run`; a lasting one next to it is none."""
    only_temporary(monkeypatch, tmp_path / "emptied")
    home = tmp_path / "home"
    for folder in (tmp_path / "emptied", home):
        folder.mkdir()
    (home / "linked").symlink_to(tmp_path / "emptied")
    file = home / "holdfast.yaml"
    for checkpoints in ("../emptied/checkpoints", "./linked", str(tmp_path / "emptied")):
        assert found_at(file, checkpoints) == [Severity.WARNING], checkpoints
        assert warned_at_start(file) == ["HF2302"], checkpoints
    assert found_at(file, "./checkpoints") == []
    assert warned_at_start(file) == []


def test_an_output_in_a_temporary_folder_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The checkpoint would outlive the rows."""
    only_temporary(monkeypatch, tmp_path / "emptied")
    (tmp_path / "home").mkdir()
    file = tmp_path / "home/holdfast.yaml"
    written = _PROJECT.format(checkpoints="./checkpoints").replace("./out", "../emptied/out")
    file.write_text(written, encoding="utf-8")
    answer = holdfast.doctor("ingest", project=file)
    (finding,) = [one for one in answer.findings if one.code == "HF2302"]
    assert finding.message.startswith("the output is in the temporary directory")
    assert finding.severity is Severity.WARNING
    assert warned_at_start(file) == ["HF2302"]


def test_a_project_in_the_temporary_folder_is_a_demonstration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is said of it, wherever in the folder its checkpoints are."""
    only_temporary(monkeypatch, tmp_path)
    (tmp_path / "demo").mkdir()
    file = tmp_path / "demo/holdfast.yaml"
    for checkpoints in ("./checkpoints", "../checkpoints", str(tmp_path / "tmp/checkpoints")):
        assert found_at(file, checkpoints) == [], checkpoints
        assert warned_at_start(file) == [], checkpoints


def test_a_job_at_a_place_that_spark_made_up_is_not_to_be_moved(tmp_path: Path) -> None:
    """A move would be refused at the next start (HF1114)."""
    place = tmp_path / "temporary-11111111-2222-3333-4444-555555555555"
    sample("stateless", "4.3.0").extract(tmp_path)
    place.mkdir()
    (tmp_path / "checkpoint").rename(place / "ingest")
    file = tmp_path / "holdfast.yaml"
    file.write_text(_PROJECT.format(checkpoints=f"./{place.name}"), encoding="utf-8")
    answer = holdfast.doctor("ingest", project=file)
    (finding,) = [one for one in answer.findings if one.code == "HF2302"]
    assert "under a new name" in finding.next_steps[0]
    assert "do not move" in finding.next_steps[1]


def test_a_job_in_a_temporary_folder_is_not_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A checkpoint that is moved by hand is refused at the next start."""
    temporary = tmp_path / "var/tmp/ingest"
    sample("stateless", "4.3.0").extract(tmp_path)
    temporary.parent.mkdir(parents=True)
    (tmp_path / "checkpoint").rename(temporary)
    file = tmp_path / "holdfast.yaml"
    file.write_text(_PROJECT.format(checkpoints="./var/tmp"), encoding="utf-8")
    only_temporary(monkeypatch, temporary.parent)
    (finding,) = [
        one for one in holdfast.doctor("ingest", project=file).findings if one.code == "HF2302"
    ]
    assert finding.severity is Severity.WARNING
    assert "under a new name" in finding.next_steps[0]
    assert "do not move" in finding.next_steps[1]

    remember_checkpoint(tmp_path, "ingest", f"file://{temporary}")
    file.write_text(_PROJECT.format(checkpoints="./lasting"), encoding="utf-8")
    temporary.parent.rename(tmp_path / "lasting")
    monkeypatch.chdir(tmp_path)
    shown = command("run", "ingest")
    assert shown.status == 10 and "HF1114" in shown.out
