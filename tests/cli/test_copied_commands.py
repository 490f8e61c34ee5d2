"""Commands in next steps can be copied: they name the job, and the project that was chosen."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from holdfast.errors import RefusedError
from tests.cli.running import holdfast

_ORDERS = Path(__file__).resolve().parents[2] / "demo" / "orders"
_PROJECT = """
project: shops
jobs:
  orders:
    source: {format: json, path: ./in, schema: "shop string"}
    sql: select shop, count(*) from source group by shop
    sink: {format: parquet, path: ./out, mode: complete}
profiles:
  prod: {}
"""


@pytest.fixture
def project(tmp_path: Path) -> str:
    """A project file elsewhere, whose job has a checkpoint with a hole."""
    (tmp_path / "holdfast.yaml").write_text(_PROJECT, encoding="utf-8")
    shutil.copytree(_ORDERS, tmp_path / "checkpoints" / "orders")
    (tmp_path / "checkpoints" / "orders" / "commits" / "1").unlink()
    return str(tmp_path / "holdfast.yaml")


@pytest.mark.parametrize("command", ["inspect", "doctor", "status", "evidence"])
@pytest.mark.parametrize("profile", [(), ("--profile", "prod")])
def test_the_project_that_was_chosen_is_in_every_command(
    project: str, command: str, profile: tuple[str, ...]
) -> None:
    if command == "doctor":  # its steps for a lost commit name no command, those for HF2342 do
        holdfast("backup", "orders", "--project", project)
        shutil.rmtree(Path(project).parent / "checkpoints" / "orders")
    shown = holdfast(command, "orders", "--project", project, *profile, "--json").document
    steps = [*shown["next"], *(step for one in shown["findings"] for step in one["next"])]
    if command == "evidence":
        steps += [how for one in shown["result"]["missing"] for how in one["how"]]
    named = [step for step in steps if " orders" in step and "holdfast " in step]
    assert named or command == "inspect"
    for step in named:
        assert " ".join(("--project", project, *profile, "orders")) in step, step


def test_the_command_is_copied_and_works(project: str) -> None:
    (step,) = holdfast("status", "--project", project, "--json").document["next"][:1]
    assert step == f"holdfast doctor --project {project} orders"
    assert holdfast(*step.split()[1:]).status == 3


@pytest.mark.parametrize("command", ["inspect", "evidence"])
def test_an_error_about_a_job_names_it(
    project: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = {
        "inspect": "checks.picture.inspect_checkpoint",
        "evidence": "evidence.collecting.collect_evidence",
    }

    def fail(*_: object, **__: object) -> None:
        raise RefusedError("HF3013", "the output is gone")

    monkeypatch.setattr(f"holdfast.diagnosis.{home[command]}", fail)
    shown = holdfast(command, "orders", "--project", project)
    assert f"holdfast run --project {project} orders --accept empty-sink" in shown.err
