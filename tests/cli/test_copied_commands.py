"""Commands in next steps can be copied: they name the job, and the project that was chosen."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.errors import RefusedError
from holdfast.steps import repeated_options
from tests.cli.running import holdfast
from tests.storage.s3server import KEY, SECRET, S3Server

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


def options_of(server: S3Server) -> list[str]:
    """Return what reaches the server, as it is typed."""
    given = {"endpoint": server.endpoint, "region": "us-east-1", "path_style": "true",
             "key": KEY, "secret": SECRET}  # fmt: skip
    return [word for one in given.items() for word in ("--storage-option", "=".join(one))]


@pytest.fixture
def bucket() -> Iterator[S3Server]:
    """A checkpoint with a hole, in a storage that needs options."""
    files = {f"orders/{one.relative_to(_ORDERS)}": one.read_bytes()
             for one in _ORDERS.rglob("*") if one.is_file()}  # fmt: skip
    del files["orders/commits/1"]
    server = S3Server()
    server.fill("lake", files)
    yield server
    server.stop()


def test_options_of_the_storage_are_repeated_and_work(
    bucket: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A secret that a variable holds is shown as the variable; it is never printed itself."""
    monkeypatch.setenv("LAKE_KEY", KEY)
    monkeypatch.setenv("LAKE_SECRET", SECRET)
    shown = holdfast("evidence", "s3://lake/orders", *options_of(bucket), "--json")
    assert SECRET not in shown.out and KEY not in shown.out
    steps = [how for one in shown.document["result"]["missing"] for how in one["how"]]
    commands = [one.partition("   ")[0] for one in steps if one.startswith("holdfast ")]
    assert commands
    for command in commands:
        assert f"--storage-option endpoint={bucket.endpoint} " in command
        assert '--storage-option secret="${LAKE_SECRET}" ' in command
    typed = subprocess.run(["sh", "-c", f"printf '%s\\n' {commands[0]}"], stdout=subprocess.PIPE,
                           check=True, text=True).stdout.splitlines()  # fmt: skip
    assert f"secret={SECRET}" in typed
    again = holdfast(*typed[1 : typed.index("--sink")], "--json")
    assert again.document["result"]["query_id"]["value"] is not None


def test_a_secret_that_no_variable_holds_is_left_to_the_user(bucket: S3Server) -> None:
    printed = holdfast("doctor", "s3://lake/none", *options_of(bucket))
    known = holdfast("evidence", "s3://lake/orders", *options_of(bucket))
    for one in (printed, known):
        assert SECRET not in one.out + one.err and KEY not in one.out + one.err
    assert "secret=[redacted]" in known.out


def test_commands_that_take_no_options_of_the_storage_are_given_none() -> None:
    words = ("--storage-option", "region=eu")
    steps = ("holdfast run orders", "holdfast check orders", "holdfast plan repair orders")
    assert repeated_options(steps, ("--profile", "prod"), words) == (
        "holdfast run --profile prod orders",
        "holdfast check --profile prod orders",
        "holdfast plan repair --profile prod --storage-option region=eu orders",
    )
