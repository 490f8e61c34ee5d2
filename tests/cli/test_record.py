"""`holdfast record`, as far as it needs no Spark."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.running import holdfast
from tests.eventlogs.loading import extracted


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(one): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_the_query_of_an_event_log_is_recorded_next_to_the_checkpoint(tmp_path: Path) -> None:
    log, checkpoint = extracted("totals", tmp_path)
    before = bytes_of(checkpoint)
    shown = holdfast("record", str(checkpoint), "--event-log", str(log))
    assert shown.status == 0, shown.err
    for part in ("recorded (Holdfast did not run it)", "Spark 4.2.0, update mode", "stateStoreSave",
                 "not known: source options", "holdfast check compares with it now"):  # fmt: skip
        assert part in shown.out
    assert bytes_of(checkpoint) == before
    again = holdfast("record", str(checkpoint), "--event-log", str(log))
    assert "already recorded" in " ".join(again.out.split())
    (file,) = (tmp_path / ".holdfast/checkpoint/recordings").iterdir()
    assert json.loads(file.read_bytes())["origin"] == "event-log"


def test_the_result_as_json(tmp_path: Path) -> None:
    log, checkpoint = extracted("joined", tmp_path)
    shown = holdfast("record", str(checkpoint), "--event-log", str(log), "--json")
    document = json.loads(shown.out)
    (recorded,) = document["result"]["recorded"]
    assert (document["schema"], document["status"]) == ("holdfast.record/1", "ok")
    assert recorded["operators"] == ["symmetricHashJoin"]
    assert (recorded["passed"], recorded["counts"], recorded["is_new"]) == (1, True, True)
    assert "Python functions" in recorded["missing"]


def test_a_log_of_another_checkpoint_is_refused(tmp_path: Path) -> None:
    log, _ = extracted("totals", tmp_path / "one")
    _, checkpoint = extracted("copied", tmp_path / "two")
    shown = holdfast("record", str(checkpoint), "--event-log", str(log))
    assert (shown.status, "HF2508" in shown.err) == (2, True)
    assert not (tmp_path / "two" / ".holdfast").exists()


def test_a_checkpoint_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    log, _ = extracted("totals", tmp_path)
    shown = holdfast("record", str(tmp_path / "nothing"), "--event-log", str(log))
    assert (shown.status, "HF7001" in shown.err) == (21, True)


def test_usage(tmp_path: Path) -> None:
    log, checkpoint = extracted("copied", tmp_path)
    two = holdfast("record", str(checkpoint), "other", "--event-log", str(log))
    assert (two.status, "one checkpoint" in two.err) == (2, True)
    assert holdfast("record").status == 2
    assert holdfast("record", "orders", "--storage-option", "a=b").status == 2


def test_an_event_log_needs_neither_spark_nor_pydantic(tmp_path: Path) -> None:
    import subprocess
    import sys

    log, checkpoint = extracted("copied", tmp_path)
    program = (
        "import sys; from holdfast.cli.main import main\n"
        f"sys.argv = ['holdfast', 'record', {str(checkpoint)!r}, '--event-log', {str(log)!r}]\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "loaded = {'pyspark', 'py4j'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
