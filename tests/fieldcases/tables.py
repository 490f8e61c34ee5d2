"""Cases 58, 59 and 89: Delta tables as sources, and as an output that outlives its checkpoint."""

from __future__ import annotations

import shutil
from typing import Any

from tests.fieldcases.bench import CaseBench
from tests.fieldcases.case import Starts, case

TABLE = {"format": "delta", "path": "./table"}
VALUES = "select value from source"


def append(bench: CaseBench, *numbers: int, expect: bool = True) -> None:
    """Append one version with two rows per number to the table that is read."""
    for number in numbers:
        words = [f"{number}-{letter}" for letter in "ab"]
        rows = bench.spark.createDataFrame([(word,) for word in words], "value string").coalesce(1)
        rows.write.format("delta").mode("append").save(str(bench.folder / "table"))
        bench.expected.update(words if expect else ())


def stream(bench: CaseBench) -> Any:
    """Read the table, one file per batch."""
    reader = bench.spark.readStream.format("delta").option("maxFilesPerTrigger", "1")
    return reader.load(str(bench.folder / "table"))


@case(58, "the Delta table that is read was dropped and created again", needs="jars")
def delta_source_created_again(bench: CaseBench) -> Starts:
    append(bench, 0, 1)
    bench.deliver(stream(bench))
    bench.unchanged(sql=VALUES, source=TABLE)
    former = bench.folder / "former"
    (bench.folder / "table").rename(former)
    append(bench, 2, 3)
    bench.declare(sql=VALUES, source=TABLE)
    bench.examine()

    def step() -> None:
        shutil.rmtree(bench.folder / "table")
        former.rename(bench.folder / "table")
        bench.expected -= type(bench.expected)(f"{one}-{letter}" for one in "23" for letter in "ab")
        bench.deliver(stream(bench))

    return (lambda: bench.deliver(stream(bench))), step


@case(59, "the log of the Delta table that is read was cleaned", needs="jars")
def delta_log_cleaned(bench: CaseBench) -> Starts:
    append(bench, 0, 1, 2)
    bench.deliver(stream(bench))
    append(bench, *range(3, 14))
    bench.unchanged(sql=VALUES, source=TABLE)
    log, copy = bench.folder / "table/_delta_log", bench.folder / "copy"
    shutil.copytree(log, copy)
    # What Delta does itself to versions that a checkpoint sums up, when they are old enough.
    for file in [*log.glob("0*.json"), *log.glob(".0*.json.crc"), *log.glob("0*.crc")]:
        if int(file.name.strip(".").split(".")[0]) < 10:
            file.unlink()
    bench.declare(sql=VALUES, source=TABLE)
    bench.examine()

    def step() -> None:
        shutil.copytree(copy, log, dirs_exist_ok=True)
        bench.deliver(stream(bench))

    return (lambda: bench.deliver(stream(bench))), step


@case(89, "the checkpoint is begun again, and the old output stays", needs="jars")
def output_kept(bench: CaseBench) -> Starts:
    def run() -> None:
        bench.to("delta", bench.lines())
        bench.read("delta")

    bench.put(0, 1, 2)
    run()
    job = {"sql": VALUES, "source": {"format": "text", "path": "./in"}}
    bench.unchanged(**job, sink={"format": "delta", "path": "./out"})
    shutil.rmtree(bench.folder / "checkpoint")
    bench.examine()
    return run, None
