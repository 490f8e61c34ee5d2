"""Cases 34, 38, 39 and 82: what Spark accepts silently between two runs."""

from __future__ import annotations

import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import holdfast
from tests.fieldcases.bench import JOB, CaseBench
from tests.fieldcases.case import Starts, case
from tests.fieldcases.queries import AS_ROWS, COUNTS
from tests.restarts.queries import write_inputs

FUNCTION = {"format": "custom", "function": "pipeline:deliver"}
OLDER = Path(__file__).resolve().parents[1] / "restarts/bases/4.1.4/stateless.zip"


def run_recorded(bench: CaseBench, sql: str, mode: str) -> None:
    """Run a query with `holdfast.start`, which leaves a record of the run."""

    def deliver(rows: Any, _identity: object) -> None:
        bench.delivered.update(" ".join(map(str, row)) for row in rows.collect())

    bench.view()
    started = holdfast.start(
        bench.sql(sql),
        job=JOB,
        checkpoint=str(bench.folder / "checkpoint"),
        sink=deliver,
        output_mode=mode,
        accept=["temporary-path", "generated-path"],
    )
    started.wait()


@case(34, "the output mode is changed from update to complete")
def output_mode_changed(bench: CaseBench) -> Starts:
    bench.orders(0, 1, expect=False)
    run_recorded(bench, COUNTS, "update")
    bench.unchanged(sql=COUNTS, output_mode="update", sink=FUNCTION)
    bench.declare(sql=COUNTS, output_mode="complete", sink=FUNCTION)
    bench.examine()

    def start(mode: str) -> None:
        bench.orders(2, expect=False)
        bench.delivered = Counter()
        bench.expected = Counter({"u1 3": 1, "u2 3": 1})
        bench.view()
        bench.totals(bench.sql(COUNTS), mode)

    return (lambda: start("complete")), (lambda: start("update"))


@case(38, "a checkpoint of Spark 4.1 is started with a newer release")
def newer_release(bench: CaseBench) -> Starts:
    # The paths in the source's log are those of the machine that made it.
    write_inputs(bench.folder, 6)
    (bench.folder / "input/left").rename(bench.folder / "in")
    with zipfile.ZipFile(OLDER) as packed:
        for name in packed.namelist():
            if name.startswith("checkpoint/") and not name.endswith(("/", ".crc")):
                place = bench.folder / name
                place.parent.mkdir(parents=True, exist_ok=True)
                made_at = b"file:///tmp/holdfast-restarts/input/left"
                here = f"file://{bench.folder}/in".encode()
                place.write_bytes(packed.read(name).replace(made_at, here))
    source = {"format": "text", "path": "./in"}
    bench.declare(sql="select * from source", source=source)
    bench.examine()

    def start(checkpoint: str) -> None:
        bench.expected = Counter(f"left-{letter} 5" for letter in "abc")
        bench.deliver(bench.lines(), checkpoint=checkpoint)

    return (lambda: start("checkpoint")), None


@case(39, "the rows go to a sink of another kind", needs="jars")
def sink_kind_changed(bench: CaseBench) -> Starts:
    bench.orders(0, 1)
    run_recorded(bench, AS_ROWS, "append")
    bench.unchanged(sql=AS_ROWS, sink=FUNCTION)
    bench.declare(sql=AS_ROWS, sink={"format": "delta", "path": "./out"})
    bench.orders(2)
    bench.examine()

    def start() -> None:
        before = bench.delivered
        bench.view()
        bench.to("delta", bench.sql(AS_ROWS))
        rows = bench.spark.read.format("delta").load(str(bench.folder / "out")).collect()
        bench.delivered = before + Counter(" ".join(map(str, row)) for row in rows)

    def step() -> None:
        bench.view()
        bench.deliver(bench.sql(AS_ROWS))

    return start, step


@case(82, "a batch that a function appended to a database over JDBC runs again", needs="database")
def jdbc_append(bench: CaseBench) -> Starts:
    options = {"url": f"{bench.database}orders", "dbtable": "orders", "driver": "org.h2.Driver"}

    def write(rows: Any, _batch_id: int) -> None:
        named = rows.selectExpr("user as who", "city", "amount")
        named.write.format("jdbc").options(**options).mode("append").save()

    def run() -> None:
        bench.view()
        bench.run(bench.sql(AS_ROWS).writeStream.foreachBatch(write))
        rows = bench.spark.read.format("jdbc").options(**options).load().collect()
        bench.delivered = Counter(" ".join(map(str, row)) for row in rows)

    bench.orders(0, 1)
    run()
    bench.unchanged(sql=AS_ROWS, sink=FUNCTION)
    # What a driver leaves that dies between the write and the commit.
    bench.remove("commits/1")
    bench.declare(sql=AS_ROWS, sink=FUNCTION)
    bench.examine()
    return run, None
