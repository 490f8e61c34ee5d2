"""Completion in the shell, through the variable that click's scripts set."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = """\
project: sensors
jobs:
  clean: {}
  clean-late: {}
  merge-gold: {}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose jobs are not even whole: names are all that completion needs."""
    (tmp_path / "holdfast.yaml").write_text(PROJECT, encoding="utf-8")
    return tmp_path


def asked(folder: Path, instruction: str, *words: str) -> tuple[str, str]:
    """Ask as the shell does, from `folder`; return what is printed, and the modules imported."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "holdfast"],
        cwd=folder,
        env={
            **os.environ,
            "_HOLDFAST_COMPLETE": instruction,
            "COMP_WORDS": " ".join(["holdfast", *words]),
            "COMP_CWORD": words[-1] if instruction.startswith("fish") else str(len(words)),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 or instruction.endswith("source"), done.stderr
    return done.stdout, done.stderr


def completed(folder: Path, *words: str) -> list[str]:
    """Return what bash gets."""
    return asked(folder, "bash_complete", *words)[0].split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_gets_its_script(project: Path, shell: str) -> None:
    printed, _ = asked(project, f"{shell}_source", "holdfast")
    assert "_HOLDFAST_COMPLETE" in printed


def test_jobs_are_completed_without_anything_heavy(project: Path) -> None:
    printed, imported = asked(project, "bash_complete", "inspect", "cl")
    assert printed.split() == ["plain,clean", "plain,clean-late"]
    for module in ("pydantic", "pyspark", "pyarrow", "fsspec", "rich"):
        assert module not in imported, module


def test_each_shell_gets_the_jobs(project: Path) -> None:
    assert asked(project, "zsh_complete", "run", "me")[0].split() == ["plain", "merge-gold", "_"]
    assert asked(project, "fish_complete", "run", "me")[0].split() == ["plain,merge-gold"]


def test_what_is_completed(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Commands, options, jobs once each, backups, directories, jobs of another project."""
    assert completed(project, "ins") == ["plain,inspect"]
    assert "plain,--json" in completed(project, "status", "--")
    assert completed(project, "run", "clean", "cl") == ["plain,clean-late"]
    assert completed(project, "restore", "me") == ["plain,merge-gold@newest"]
    assert completed(project, "inspect", "./ch") == ["dir,./ch"]
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    assert completed(elsewhere, "status", "cl") == []
    found = completed(elsewhere, "status", "--project", str(project), "cl")
    assert found == ["plain,clean", "plain,clean-late"]


def test_a_broken_project_completes_nothing_and_says_nothing(project: Path) -> None:
    (project / "holdfast.yaml").write_text("jobs: [", encoding="utf-8")
    assert completed(project, "run", "") == []
