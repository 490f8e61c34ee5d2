"""Every command where only the core is installed, or one extra: an answer, never a crash."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli.main import COMMANDS
from tests.corpus.loading import sample
from tests.parts.installs import environment_of, python_in

PROGRAM = """
import contextlib, io, json, sys
from holdfast.cli.main import run

done = []
for words in json.loads(sys.argv[1]):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(words)
    done.append([words[0], status, out.getvalue() + err.getvalue()])
import holdfast
from holdfast.errors import HoldfastError
for name, call in {
    "holdfast.run": lambda: holdfast.run(),
    "holdfast.start": lambda: holdfast.start(None, job="a", checkpoint="b", sink=print),
}.items():
    try:
        call()
        done.append([name, 0, ""])
    except HoldfastError as error:
        done.append([name, error.exit_status, f"{error.code.number} {error.message} "
                     + " ".join(error.next_steps)])
print(json.dumps(done))
"""
PIP_LINE = 'pip install ".[spark]" in a clone of Holdfast'
CHANGING = ("init", "run", "record", "state", "demo")
"""Commands that an extra changes, and one to make a project."""
RUNS = ("run", "record", "demo", "holdfast.run", "holdfast.start")


def calls(checkpoint: Path, folder: Path) -> list[list[str]]:
    """Return one call of every command, on a real checkpoint and a new project."""
    target = str(checkpoint)
    return [
        ["init", "."],
        ["run", "--offline"],
        ["check"],
        ["record", "orders", "--offline"],
        ["status"],
        ["inspect", target],
        ["evidence", target],
        ["doctor", target],
        ["state", target],
        ["diff", target, "--logs-only"],
        ["plan", "resume", target, "-o", str(folder / "plan.json")],
        ["rehearse", str(folder / "plan.json"), "--even-if-running"],
        ["apply", "--finish", target, "--yes"],
        ["undo", target, "--yes"],
        ["journal", target],
        ["backup", target],
        ["backups", target],
        ["restore", f"{target}@newest", "--to", str(folder / "restored"), "--yes"],
        ["explain", "HF5203"],
        ["demo", str(folder / "demo")],
    ]


def answers(
    folder: Path,
    *extras: str,
    without: tuple[str, ...] = (),
    commands: Collection[str] = (*COMMANDS,),
) -> dict[str, Any]:
    """Run commands in an environment of its own and return status and text of each."""
    environment = environment_of(folder / "environment", *extras, without=without)
    checkpoint, project = sample("aggregation-hdfs-lz4", "4.1.4").extract(folder), folder / "new"
    project.mkdir()
    words = json.dumps([one for one in calls(checkpoint, folder) if one[0] in commands])
    ran = python_in(environment, PROGRAM, words, cwd=project)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    done = {name: (status, text) for name, status, text in json.loads(ran.stdout)}
    for name, (_, text) in done.items():
        assert "HF1003" not in text and "Traceback" not in text, (name, text)
        assert "ModuleNotFoundError" not in text, (name, text)
    return done


def test_every_command_with_only_the_core(tmp_path: Path) -> None:
    """What needs Spark or the readers of state names the line to install; the rest works."""
    done = answers(tmp_path)
    assert set(done) == {*COMMANDS, "holdfast.run", "holdfast.start"}
    for name in RUNS:
        status, text = done.pop(name)
        assert status == 52, (name, text)
        assert "HF5203" in text and PIP_LINE in text, (name, text)
    status, text = done.pop("state")
    assert "HF2770" in text and 'pip install ".[state]" in a clone of Holdfast' in text
    assert {name: status for name, (status, _) in done.items() if status not in (0, 3)} == {}


@pytest.mark.parametrize("extra", ["delta", "state", "postgres", "kafka", "s3"])
def test_commands_with_one_extra(tmp_path: Path, extra: str) -> None:
    """No extra is taken for another one."""
    done = answers(tmp_path, extra, commands=CHANGING)
    assert {done[name][0] for name in RUNS} == {52}
    assert ("HF2770" in done["state"][1]) == (extra != "state")


def test_pyspark_without_py4j(tmp_path: Path) -> None:
    """Half an installation is not taken for a whole one."""
    done = answers(tmp_path, "spark", without=("py4j",), commands=CHANGING)
    for name in RUNS:
        status, text = done[name]
        assert status == 52 and "py4j" in text and PIP_LINE in text, (name, text)
