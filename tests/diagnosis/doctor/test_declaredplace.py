"""A job whose checkpoint lies at a temporary place: what is advised can be followed."""

from __future__ import annotations

from pathlib import Path

import pytest

import holdfast
from holdfast.jobs.registry import remember_checkpoint
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
    (finding,) = [
        one for one in holdfast.doctor("ingest", project=file).findings if one.code == "HF2302"
    ]
    assert "under a new name" in finding.next_steps[0]
    assert "do not move" in finding.next_steps[1]

    remember_checkpoint(tmp_path, "ingest", f"file://{temporary}")
    file.write_text(_PROJECT.format(checkpoints="./lasting"), encoding="utf-8")
    temporary.parent.rename(tmp_path / "lasting")
    monkeypatch.chdir(tmp_path)
    shown = command("run", "ingest")
    assert shown.status == 10 and "HF1114" in shown.out
