"""Cases 71 to 89: what the sink remembers."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from typing import Any

import psycopg

from tests.fieldcases.play.playing import play
from tests.fieldcases.play.stage import SCHEMA, Stage, named

FILES = {"format": "parquet", "path": "./lake/orders"}
NATIVE = {**FILES, "native": True}
CUSTOM = {"format": "custom", "function": "pipeline:deliver"}
APPEND = '''"""Appends the rows of a batch to a file."""

import json
from pathlib import Path

OUTPUT = Path(__file__).with_name("delivered.json")


def deliver(rows, _):
    found = [json.dumps({"n": row.n, "k": row.k}) for row in rows.collect()]
    with OUTPUT.open("a") as file:
        file.writelines(line + "\\n" for line in found)
'''
INSERT = '''"""Appends the rows of a batch to a table."""

import psycopg


def deliver(rows, _):
    found = [(row.n, row.k) for row in rows.collect()]
    with psycopg.connect("URL") as connection:
        connection.cursor().executemany("insert into orders values (%s, %s)", found)
'''


@play(78, how="the checkpoint of a Delta job was rolled back by two batches")
def delta_rolled_back(stage: Stage) -> None:
    stage.play()
    stage.remove("commits/3", "offsets/3", "commits/2", "offsets/2")
    stage.plan_of("HF2411")


@play(72, how="the checkpoint of a job that writes files was rolled back by two batches")
def files_rolled_back(stage: Stage) -> None:
    stage.play(sink=FILES)
    stage.remove("commits/3", "offsets/3", "commits/2", "offsets/2")
    stage.plan_of("HF2441")


@play(72, how="the checkpoint of a job that writes to PostgreSQL was rolled back by two batches")
def table_rolled_back(stage: Stage) -> None:
    url = stage.parts.database()
    sink = {"format": "postgres", "url": url, "table": "orders", "batch_column": "batch"}
    stage.play(sink=sink)
    stage.remove("commits/3", "offsets/3", "commits/2", "offsets/2")
    stage.plan_of("HF2441")


@play(79, 89, how="the checkpoint was deleted, and the Delta table was kept")
def delta_output_kept(stage: Stage) -> None:
    stage.play()
    shutil.rmtree(stage.checkpoint)
    stage.checkpoint.mkdir()
    stage.plan_of("HF2412")


@play(71, how="the checkpoint was deleted, and the output directory was kept")
def files_output_kept(stage: Stage) -> None:
    stage.play(sink=FILES)
    shutil.rmtree(stage.checkpoint)
    stage.checkpoint.mkdir()
    stage.plan_of("HF2443")


@play(81, how="a program appended a batch in foreachBatch, and died before the commit")
def append_before_the_commit(stage: Stage) -> None:
    _adopted(stage, APPEND)
    _told_that_it_is_there(stage)


@play(82, how="a program appended a batch to a table of a database, and died before the commit")
def table_append_before_the_commit(stage: Stage) -> None:
    url = stage.parts.database()
    with psycopg.connect(url) as connection:
        connection.execute("create table orders (n bigint, k text)")
    _adopted(stage, INSERT.replace("URL", url))
    stage.instead = {"format": "postgres", "url": url, "table": "orders"}
    _told_that_it_is_there(stage)


def _adopted(stage: Stage, code: str) -> None:
    """Let a program deliver with a function, and declare the job that continues with it."""
    file = stage.folder / "pipeline.py"
    file.write_text(code, encoding="utf-8")
    own: dict[str, Any] = {"__file__": str(file)}
    exec(compile(code, str(file), "exec"), own)
    _delivered_by_a_program(stage, lambda rows: rows.writeStream.foreachBatch(own["deliver"]))
    stage.declare(checkpoint="./program", sink=CUSTOM)


def _delivered_by_a_program(stage: Stage, writing: Callable[[Any], Any]) -> None:
    """Run a program without Holdfast, which dies between the last write and the commit."""
    stage.arrive(4)
    reader = stage.parts.spark.readStream.format("json").schema(SCHEMA)
    rows = reader.option("maxFilesPerTrigger", 1).load(str(stage.folder / "in"))
    writer = writing(rows).option("checkpointLocation", str(stage.folder / "program"))
    writer.trigger(availableNow=True).start().awaitTermination()
    for name in ("3", ".3.crc"):
        (stage.folder / "program/commits" / name).unlink()


def _told_that_it_is_there(stage: Stage) -> None:
    """State that the pending batch is in the sink, as the refusal asks."""
    steps = stage.refused("HF3009")["HF3009"]
    # It was run by the library, whose next steps are written for a program.
    assert any("pending_delivered=True" in one for one in steps), steps
    stage.run(pending_delivered=True)


@play(71, how="Spark's file sink: checkpoint deleted, output kept; there is a backup")
def native_files_new_checkpoint(stage: Stage) -> None:
    stage.play(sink=NATIVE)
    stage.back_up()
    shutil.rmtree(stage.checkpoint)
    stage.checkpoint.mkdir()
    _restored(stage)


@play(72, how="Spark's file sink: the checkpoint was rolled back; there is a backup")
def native_files_rolled_back(stage: Stage) -> None:
    stage.play(sink=NATIVE)
    stage.back_up()
    stage.remove("commits/3", "offsets/3", "commits/2", "offsets/2")
    _restored(stage)


@play(79, 89, how="the checkpoint was deleted, the Delta table was kept; there is a backup")
def delta_output_kept_with_backup(stage: Stage) -> None:
    stage.play()
    stage.back_up()
    shutil.rmtree(stage.checkpoint)
    stage.checkpoint.mkdir()
    _restored(stage)


def _restored(stage: Stage) -> None:
    """Look at the backups, as the loss of batches asks, and restore the newest."""
    stage.typed(named(stage.ask(), "HF2342", "holdfast backups"))
    stage.typed("holdfast restore orders@newest --yes")
