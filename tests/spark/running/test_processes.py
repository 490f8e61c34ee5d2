"""Real processes: killed, signalled, left behind. After each, the next start loses nothing."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

from holdfast.records.processes import lives, process_here
from tests.spark.running.processes import call, java_below, result_of, started, wait_for
from tests.spark.running.projects import Made, ingest

pytestmark = pytest.mark.spark

SLOW = """

import pathlib, time


def deliver(batch, identity):
    here = pathlib.Path(__file__).parent
    rows = [row.n for row in batch.collect()]
    (here / f"entered-{identity.batch_id}").touch()
    while not (here / "go").exists():
        time.sleep(0.05)
    with (here / "delivered").open("a") as file:
        file.writelines(f"{identity.batch_id} {n}\\n" for n in rows)
"""


def slow_job(folder: Path) -> Made:
    """Make a job whose sink waits until the test lets it go."""
    sink = {"format": "custom", "function": "pipeline:deliver"}
    made = Made(folder, {"ingest": ingest() | {"sink": sink}})
    (folder / "pipeline.py").write_text((folder / "pipeline.py").read_text() + SLOW)
    return made


def test_sigterm_lets_the_running_delivery_finish(spark: Any, tmp_path: Path) -> None:
    """It is committed, no other begins, the status is 143, and the next start goes on."""
    made = slow_job(tmp_path)
    numbers = made.arrive(3) + made.arrive(4)
    with started(tmp_path, "run", "--json") as process:
        wait_for((tmp_path / "entered-0").exists, "the first delivery")
        process.send_signal(signal.SIGTERM)
        (tmp_path / "go").touch()
        assert process.wait(240) == 143
    assert made.ids("ingest", "commits") == [0]
    again = call(tmp_path, "run", "--json")
    assert result_of(again)["result"]["jobs"][0]["ended"] == "finished"
    lines = (tmp_path / "delivered").read_text().split("\n")[:-1]
    assert sorted(int(line.split()[1]) for line in lines) == numbers


def test_a_second_signal_stops_at_once_and_python_alone_killed_leaves_the_lease_held(
    spark: Any, tmp_path: Path
) -> None:
    """The batch stays pending; a JVM whose driver died still holds the checkpoint."""
    made = slow_job(tmp_path)
    numbers = made.arrive(3)
    with started(tmp_path, "run", "--json") as process:
        wait_for((tmp_path / "entered-0").exists, "the delivery")
        # Two signals of one kind may come as one; of two kinds, threads may take either first.
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        assert process.wait(240) in (130, 143)
    assert (made.ids("ingest", "offsets"), made.ids("ingest", "commits")) == ([0], [])

    (tmp_path / "entered-0").unlink()
    with started(tmp_path, "run", "--json") as process:
        wait_for((tmp_path / "entered-0").exists, "the delivery")
        (java,) = java_below(process.pid)
        machine = process_here(java)
        os.kill(java, signal.SIGSTOP)
        process.kill()
        process.wait(60)
        refused = call(tmp_path, "run", "--json")
        assert refused.returncode == 22
        (finding,) = result_of(refused)["findings"]
        assert finding["code"] == "HF2601" and f"JVM {java} lives on" in finding["message"]
        os.kill(java, signal.SIGKILL)
        wait_for(lambda: lives(machine) is False, "the end of the JVM")
    (tmp_path / "go").touch()
    again = result_of(call(tmp_path, "run", "--json"))
    assert again["result"]["jobs"][0]["ended"] == "finished"
    lines = (tmp_path / "delivered").read_text().split("\n")[:-1]
    assert sorted(int(line.split()[1]) for line in lines) == numbers


def test_a_driver_that_lost_its_lease_stops_before_its_next_delivery(
    spark: Any, tmp_path: Path
) -> None:
    """Somebody took over while it delivered: that delivery ends, the next one never begins."""
    made = slow_job(tmp_path)
    made.arrive(3)
    made.arrive(2)
    with started(tmp_path, "run", "--json") as process:
        wait_for((tmp_path / "entered-0").exists, "the delivery")
        folder = tmp_path / "checkpoints/.holdfast/ingest/lease"
        (folder / "0000000002").write_bytes((folder / "0000000001").read_bytes())
        (tmp_path / "go").touch()
        printed, _ = process.communicate(timeout=240)
        assert process.returncode == 22
    assert '"ended": "lost-lease"' in printed and "HF2602" in printed
    assert not (tmp_path / "entered-1").exists()
