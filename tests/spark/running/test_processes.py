"""Real processes: killed, signalled, left behind. After each, the next start loses nothing."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.records.folder import records_of
from holdfast.records.history import History
from holdfast.records.processes import lives, process_here
from holdfast.records.run import Ended
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings
from tests.spark.running.processes import (
    Terminal,
    call,
    java_below,
    result_of,
    started,
    wait_for,
)
from tests.spark.running.projects import PIPELINE, Made, ingest

pytestmark = pytest.mark.spark

FINISHING = "ingest: finishing batch 0, press Ctrl-C again to stop now"
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


DEAF = """

import pathlib, time
import holdfast.spark.start

# A machine that has no time for the thread that looks after the query.
holdfast.spark.start.RunningQuery.stop = lambda *_: time.sleep(600)


def deliver(batch, identity):
    (pathlib.Path(__file__).parent / f"entered-{identity.batch_id}").touch()
    while True:
        try:
            batch.count()
            time.sleep(60)
        except BaseException:
            pass
"""


def slow_job(folder: Path, more: str = SLOW) -> Made:
    """Make a job whose sink waits until the test lets it go."""
    sink = {"format": "custom", "function": "pipeline:deliver"}
    made = Made(folder, {"ingest": ingest() | {"sink": sink}})
    (folder / "pipeline.py").write_text(PIPELINE + more)
    return made


def finishes(made: Made) -> None:
    """Run what is left in the Spark of the tests."""
    answer = holdfast.run(project=made.file)
    assert {job.ended.value for job in answer.result.jobs} == {"finished"}


def test_sigterm_lets_the_running_delivery_finish(spark: Any, tmp_path: Path) -> None:
    """It is committed, no other begins, the status is 143, and the next start goes on."""
    made = slow_job(tmp_path)
    numbers = made.arrive(3) + made.arrive(4)
    with started(tmp_path, "run", "--json", "--events", "events") as process:
        wait_for((tmp_path / "entered-0").exists, "the first delivery")
        process.send_signal(signal.SIGTERM)
        wait_for(lambda: '"stopping"' in (tmp_path / "events").read_text(), "the answer")
        (tmp_path / "go").touch()
        assert process.wait(240) == 143
    events = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    (asked,) = [one for one in events if one["event"] == "stopping"]
    assert (asked["job"], asked["batch"], asked["signal"]) == ("ingest", 0, signal.SIGTERM)
    assert made.ids("ingest", "commits") == [0]
    finishes(made)
    lines = (tmp_path / "delivered").read_text().split("\n")[:-1]
    assert sorted(int(line.split()[1]) for line in lines) == numbers


def test_a_closed_terminal_lets_the_running_delivery_finish(spark: Any, tmp_path: Path) -> None:
    """SIGHUP goes to the JVM as well, and nothing can be printed any more: status 129."""
    made = slow_job(tmp_path)
    made.arrive(3)
    made.arrive(4)
    with Terminal(tmp_path, "run", "--events", "events") as terminal:
        wait_for((tmp_path / "entered-0").exists, "the first delivery")
        terminal.hang_up()
        wait_for(lambda: '"stopping"' in (tmp_path / "events").read_text(), "the answer")
        (tmp_path / "go").touch()
        assert terminal.process.wait(240) == 129
    assert made.ids("ingest", "commits") == [0]
    (run,) = History(records_of(parse_location(str(made.checkpoint("ingest"))),
                                StorageSettings())).runs()  # fmt: skip
    assert (run.ended, run.last_batch) == (Ended.STOPPED, 0)


def test_a_second_ctrl_c_stops_at_once_and_python_alone_killed_leaves_the_lease_held(
    spark: Any, tmp_path: Path
) -> None:
    """Whatever the function does: the batch stays pending and runs again, the JVM is gone.

    A JVM whose driver died, on the other hand, still holds the checkpoint.
    """
    made = slow_job(tmp_path, DEAF)
    numbers = made.arrive(3)
    with Terminal(tmp_path, "run") as terminal:
        wait_for((tmp_path / "entered-0").exists, "the delivery")
        machines = [process_here(one) for one in java_below(terminal.process.pid)]
        wait_for(
            lambda: "ingest: batch 0 in progress for 2 s" in terminal.text, "how long it takes"
        )
        terminal.press_ctrl_c()
        wait_for(lambda: FINISHING in terminal.text, "the answer to Ctrl-C")
        assert terminal.process.poll() is None
        terminal.press_ctrl_c()
        assert terminal.wait() == 130
        assert [lives(one) for one in machines] == [False]
    assert "starting Spark" in terminal.text and "stopped" in terminal.text
    assert "Traceback" not in terminal.text and "HF1003" not in terminal.text
    assert (made.ids("ingest", "offsets"), made.ids("ingest", "commits")) == ([0], [])
    job = result_of(call(tmp_path, "status", "--json"))["result"]["jobs"][0]
    record = job["runs"][0]
    assert (record["ended"], record["failure"]) == ("stopped", None)
    assert job["state"] == "stopped"
    # The line is drawn several times.
    (shown,) = set(re.findall(r"ingest: stopped after ([\d.]+) s", terminal.text))
    assert float(shown) > 0

    (tmp_path / "pipeline.py").write_text(PIPELINE + SLOW)
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
        assert finding["code"] == "HF2601" and f"JVM {java} is still running" in finding["message"]
        os.kill(java, signal.SIGKILL)
        wait_for(lambda: lives(machine) is False, "the end of the JVM")
    (tmp_path / "go").touch()
    finishes(made)
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


NEVER = """


def same(source):
    import pathlib, time
    (pathlib.Path(__file__).parent / "building").touch()
    while True:
        time.sleep(0.05)
"""


def test_signals_while_spark_starts_and_while_the_users_code_never_returns(
    tmp_path: Path,
) -> None:
    """There is nothing to finish: one signal is enough before Spark runs, two always are."""
    made = Made(tmp_path, {"ingest": ingest()})
    made.arrive(1)
    (tmp_path / "pipeline.py").write_text(NEVER)
    with Terminal(tmp_path, "run") as terminal:
        wait_for(lambda: "starting Spark 4.2" in terminal.text, "the start of Spark")
        wait_for(lambda: java_below(terminal.process.pid), "Java")
        java = [process_here(one) for one in java_below(terminal.process.pid)]
        terminal.press_ctrl_c()
        assert terminal.wait() == 130
        # Spark's launcher is a Java of its own, which ends by itself when nobody reads its answer.
        wait_for(lambda: not any(map(lives, java)), "the end of Java")
    assert "stopping; no job is running" in terminal.text
    assert "stopped before it began" in terminal.text
    assert "Traceback" not in terminal.text

    with started(tmp_path, "run", "--json", "--events", "events") as process:
        wait_for((tmp_path / "building").exists, "the transform")
        (number,) = java_below(process.pid)
        machine = process_here(number)
        process.send_signal(signal.SIGTERM)
        wait_for(lambda: '"step"' in (tmp_path / "events").read_text(), "the answer")
        wait_for(lambda: "no job is running" in (tmp_path / "events").read_text(), "the answer")
        process.send_signal(signal.SIGTERM)
        printed, errors = process.communicate(timeout=240)
        assert process.returncode == 143
        assert lives(machine) is False
    (report,) = json.loads(printed)["result"]["jobs"]
    assert (report["ended"], errors) == ("stopped", "")
    events = [json.loads(line) for line in (tmp_path / "events").read_text().splitlines()]
    assert events[-1]["message"] == "stopped at once; its code did not return"


def test_a_signal_while_libraries_are_fetched(tmp_path: Path) -> None:
    """From a repository that does not answer; nothing stays."""
    Made(tmp_path, {"ingest": ingest()})
    with socket.create_server(("127.0.0.1", 0)) as silent:
        mirror = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        cache = tmp_path / "cache"
        places = {"HOLDFAST_MAVEN": mirror, "HOLDFAST_CACHE": str(cache)}
        with started(tmp_path, "run", **places) as process:
            assert process.stderr is not None
            line = process.stderr.readline()
            assert re.fullmatch(r"fetching \d+ Java libraries…\n", line)
            wait_for(lambda: java_below(process.pid), "Ivy")
            java = [process_here(one) for one in java_below(process.pid)]
            process.send_signal(signal.SIGTERM)
            printed, errors = process.communicate(timeout=240)
            assert process.returncode == 143
            assert [lives(one) for one in java] == [False]
    assert "stopped" in printed and "Traceback" not in errors
    assert list((cache / "jars").iterdir()) == []
