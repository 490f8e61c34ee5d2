"""A command that is given a path outside of a project does not wait for what reads projects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.corpus.loading import sample

PROGRAM = """
import sys
from holdfast.cli.main import main
try:
    main()
finally:
    print(*sys.modules, file=open("modules", "w"))
"""


@pytest.mark.parametrize(
    "words",
    [
        ("doctor", "checkpoint"),
        ("doctor", "--verify", "checkpoint"),
        ("evidence", "checkpoint"),
        ("evidence", "checkpoint", "--bundle", "evidence.zip"),
        ("inspect", "checkpoint"),
        ("inspect", "--verify", "checkpoint"),
        ("diff", "checkpoint"),
        ("diff", "checkpoint", "checkpoint"),
        ("state", "checkpoint"),
        ("backup", "checkpoint"),
        ("backups", "checkpoint"),
        ("restore", "checkpoint@newest", "--yes", "--even-if-running"),
    ],
    ids=" ".join,
)
def test_a_bare_path_needs_neither_pydantic_nor_yaml(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    """Their import takes longer than most answers."""
    sample("aggregation-hdfs-snapshots", "4.3.0").extract(tmp_path)
    if words[0] == "restore":
        ran_in(tmp_path, "backup", "checkpoint")
    ran = ran_in(tmp_path, *words)
    modules = (tmp_path / "modules").read_text().split()
    assert "HF" not in ran.stderr and "Traceback" not in ran.stderr, ran.stderr
    assert f"holdfast.cli.commands.{words[0]}" in modules
    assert not {"pydantic", "yaml", "pyspark", "fsspec"} & {*modules}


@pytest.mark.parametrize("command", ["inspect", "doctor"])
def test_a_checkpoint_without_records_needs_nothing_that_reads_records(
    tmp_path: Path, command: str
) -> None:
    """What reads them, and OpenSSL for their digests, takes a third of the time of `inspect`."""
    sample("aggregation-hdfs-lz4", "4.2.1").extract(tmp_path)
    assert ran_in(tmp_path, command, "checkpoint").stderr == ""
    modules = {*(tmp_path / "modules").read_text().split()}
    assert "holdfast.diagnosis.inspection.runs.recalling" not in modules
    if command == "inspect":
        assert not {"hashlib", "socket", "holdfast.records.run", "holdfast.records.facts"} & modules


def ran_in(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, where it leaves the names of the modules that it imported."""
    run = [sys.executable, "-c", PROGRAM, *words]
    return subprocess.run(run, cwd=folder, capture_output=True, text=True, check=False)
