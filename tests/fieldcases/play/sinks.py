"""Cases 71 to 89: what the sink remembers."""

from __future__ import annotations

import shutil
import uuid

from tests.fieldcases.play.playing import play
from tests.fieldcases.play.stage import Stage, named
from tests.parts.kafka import create_topic

FILES = {"format": "parquet", "path": "./lake/orders"}
NATIVE = {**FILES, "native": True}
CUSTOM = {"format": "custom", "function": "pipeline:deliver"}
DELIVER = '''"""Appends the rows of a batch to a file."""

import json
from pathlib import Path

OUTPUT = Path(__file__).with_name("delivered.json")


def deliver(rows, identity):
    found = [json.dumps({"n": row.n, "k": row.k}) for row in rows.collect()]
    with OUTPUT.open("a") as file:
        file.writelines(line + "\\n" for line in found)
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


@play(81, how="a function appended a batch, and the driver died before the commit")
def append_before_the_commit(stage: Stage) -> None:
    (stage.folder / "pipeline.py").write_text(DELIVER, encoding="utf-8")
    stage.play(sink=CUSTOM)
    _pending(stage)
    stage.refused("HF3009")
    stage.run(pending_delivered=True)


@play(83, how="the Kafka sink got a batch, and the driver died before the commit")
def kafka_sink_before_the_commit(stage: Stage) -> None:
    topic = f"out-{uuid.uuid4().hex[:8]}"
    create_topic(stage.parts.broker(), topic, 1)
    options = {"kafka.bootstrap.servers": stage.parts.broker()}
    stage.play(sink={"format": "kafka", "topic": topic, "options": options},
               sql="select to_json(struct(n, k)) as value from source")  # fmt: skip
    _pending(stage)
    stage.refused("HF3009")
    stage.run(pending_delivered=True)


def _pending(stage: Stage) -> None:
    """Leave what a driver leaves that died between the write and the commit."""
    stage.remove("commits/3")
    ledger = stage.checkpoint.parent / ".holdfast/orders/batches"
    newest = max(ledger.rglob("*.json"), default=None)
    if newest is not None:
        newest.unlink()


@play(
    71, how="native file sink: the checkpoint was deleted, the output was kept; there is a backup"
)
def native_files_new_checkpoint(stage: Stage) -> None:
    stage.play(sink=NATIVE)
    stage.back_up()
    shutil.rmtree(stage.checkpoint)
    stage.checkpoint.mkdir()
    _restored(stage, "HF2401")


@play(72, how="native file sink: the checkpoint was rolled back; there is a backup")
def native_files_rolled_back(stage: Stage) -> None:
    stage.play(sink=NATIVE)
    stage.back_up()
    stage.remove("commits/3", "offsets/3", "commits/2", "offsets/2")
    _restored(stage, "HF2402")


@play(79, 89, how="the checkpoint was deleted, the Delta table was kept; there is a backup")
def delta_output_kept_with_backup(stage: Stage) -> None:
    stage.play()
    stage.back_up()
    shutil.rmtree(stage.checkpoint)
    stage.checkpoint.mkdir()
    _restored(stage, "HF2412")


def _restored(stage: Stage, code: str) -> None:
    """Take the newest of the backups that the finding, or the list of backups, names."""
    stage.typed(named(stage.ask(), code, "holdfast backups"))
    stage.typed("holdfast restore orders@newest --yes")
