"""Cases 16 to 19: two drivers, two jobs or two queries on one checkpoint."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import holdfast
from holdfast.errors import HoldfastError
from tests.fieldcases import seconddriver
from tests.fieldcases.bench import JOB, CaseBench
from tests.fieldcases.case import Starts, case
from tests.fieldcases.queries import AS_ROWS
from tests.fieldcases.runs import FUNCTION, run_recorded
from tests.restarts.errors import chain_of, decisive

PATIENCE_SECONDS = 600
DELIVER = "def deliver(rows, identity):\n    rows.collect()\n"


class LongBatch:
    """A function that delivers rows, and does so late for those of one file."""

    def __init__(self, bench: CaseBench) -> None:
        self._bench = bench
        self.waiting = False
        self.begun, self.go_on = threading.Event(), threading.Event()

    def __call__(self, rows: Any, _identity: object) -> None:
        """Deliver; a long computation is one that somebody has to end."""
        found = [" ".join(map(str, row)) for row in rows.collect()]
        if self.waiting:
            self.begun.set()
            assert self.go_on.wait(PATIENCE_SECONDS)
        self._bench.delivered.update(found)


def start_held(bench: CaseBench, deliver: Callable[..., None], **trigger: object) -> Any:
    """Start the job under Holdfast's lease, and leave it running."""
    bench.view()
    return holdfast.start(
        bench.sql(AS_ROWS),
        job=JOB,
        checkpoint=str(bench.folder / "checkpoint"),
        sink=deliver,
        trigger=trigger or {"available_now": True},
        accept=["temporary-path", "generated-path"],
    )


def second_driver(bench: CaseBench, folder: str = "in") -> None:
    """Start another driver on the checkpoint, with Spark alone, and take what it delivers."""
    output = bench.folder.with_name("second-driver.txt")
    output.unlink(missing_ok=True)
    words = [sys.executable, str(Path(seconddriver.__file__)), str(bench.folder / folder)]
    words += [str(bench.folder / "checkpoint"), str(output)]
    subprocess.run(words, check=True, capture_output=True, timeout=PATIENCE_SECONDS)
    bench.delivered += Counter(output.read_text(encoding="utf-8").splitlines())


def failure_of(run: Callable[[], object]) -> str:
    """Name the code or the error class that a query ends with; empty where it ends well."""
    try:
        run()
    except HoldfastError as error:
        return error.code.number
    except Exception as error:  # noqa: BLE001  (whatever it is, it is noted)
        return decisive(chain_of(error)).condition or type(error).__name__
    return ""


@case(16, "a query is started a second time in the application that runs it")
def started_twice(bench: CaseBench) -> Starts:
    bench.orders(0, 1)
    deliver = LongBatch(bench)
    first = start_held(bench, deliver, processing_time="100 milliseconds")
    first.query.processAllAvailable()
    bench.declare(sql=AS_ROWS, sink=FUNCTION)
    bench.examine()
    bench.refused = failure_of(lambda: start_held(bench, deliver))

    def start() -> None:
        bench.orders(2)
        bench.view()
        bench.deliver(bench.sql(AS_ROWS))
        ended = f"running: {first.query.isActive}, error: {first.query.exception()}"
        bench.note = f"the first query afterwards: {ended}"

    def step() -> None:
        bench.orders(2, expect=False)
        bench.view()
        bench.deliver(bench.sql(AS_ROWS))

    return start, step


@case(17, "two scheduled jobs have one checkpoint, and run at the same time")
def jobs_on_one_checkpoint(bench: CaseBench) -> Starts:
    bench.orders(0, 1)
    run_recorded(bench, AS_ROWS, "append")
    first = LongBatch(bench)
    return _two_jobs(bench, first)


def _two_jobs(bench: CaseBench, first: LongBatch) -> Starts:
    bench.declare("invoices", sql=AS_ROWS)
    bench.examine()
    bench.declare_as("invoices", sql=AS_ROWS)
    bench.examine()
    bench.try_to_run()

    def start() -> None:
        bench.orders(2)
        first.waiting = True
        bench.view()
        writer = bench.sql(AS_ROWS).writeStream.foreachBatch(first).trigger(availableNow=True)
        place = str(bench.folder / "checkpoint")
        running = writer.option("checkpointLocation", place).start()
        assert first.begun.wait(PATIENCE_SECONDS)
        second_driver(bench)
        first.go_on.set()
        bench.note = f"then the first job fails: {failure_of(running.awaitTermination)}"

    return start, None


@case(18, "another query is started on a checkpoint")
def another_query(bench: CaseBench) -> Starts:
    bench.orders(0, 1)
    run_recorded(bench, AS_ROWS, "append")
    bench.declare("invoices", sql=AS_ROWS, source=bench.declared_folder("invoices"))
    bench.examine()
    bench.orders(5, into="invoices")
    bench.declare_as("invoices", sql=AS_ROWS, source=bench.declared_folder("invoices"))
    bench.examine()
    bench.try_to_run()

    def start() -> None:
        bench.view("source", "invoices")
        bench.deliver(bench.sql(AS_ROWS))

    def step() -> None:
        bench.view("source", "invoices")
        bench.deliver(bench.sql(AS_ROWS), checkpoint="checkpoint-of-its-own")

    return start, step


@case(19, "a second driver is started while the first one is in a long batch")
def second_driver_in_a_batch(bench: CaseBench) -> Starts:
    bench.orders(0, 1)
    deliver = LongBatch(bench)
    start_held(bench, deliver).wait()
    bench.orders(2)
    deliver.waiting = True
    first = start_held(bench, deliver)
    assert deliver.begun.wait(PATIENCE_SECONDS)
    (bench.folder / "pipeline.py").write_text(DELIVER, encoding="utf-8")
    bench.declare(sql=AS_ROWS, sink=FUNCTION)
    bench.examine()
    bench.try_to_run()

    def start() -> None:
        second_driver(bench)
        deliver.go_on.set()
        bench.note = f"then the first driver fails: {failure_of(first.wait)}"

    return start, (lambda: second_driver(bench))
