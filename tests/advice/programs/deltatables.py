"""Advice about Delta tables, followed."""

from __future__ import annotations

import json
import shutil
import time
from typing import Any

from holdfast.diagnosis.doctor import wrongfixes
from tests.advice.bench import AdviceBench
from tests.advice.following import WRONG, follows, wrongly
from tests.diagnosis.doctor.trials.deltasinks import IDENTITY, copied, log_of

_NEWEST_BACK = (
    "put the newest entries of the checkpoint back from a backup: holdfast backups TARGET"
)
_RESTORE_LOST = "if the checkpoint was deleted: restore it from a backup (holdfast backups TARGET)"
_RETENTION = "delta.setTransactionRetentionDuration"


def rolled_back(bench: AdviceBench) -> None:
    """Make a checkpoint that lost its newest batch, which the table has."""
    copied(bench, 3)
    bench.back_up()
    bench.remove("offsets/2", "commits/2", "sources/0/2")
    bench.ask_doctor()
    bench.put(3)


def id_in_the_table(bench: AdviceBench) -> str:
    """Return the query id that the newest commit of the table names."""
    lines = log_of(bench)[-1].read_text(encoding="utf-8").splitlines()
    (identity,) = [json.loads(line)["txn"]["appId"] for line in lines if '"txn"' in line]
    return str(identity)


@follows(
    ("HF2201", "without a backup: the id is also in the sink's own log (Delta: the txn's appId) "
     "and in the driver's logs; write it back only if offsets/ has the newest batch that the sink "
     "has under it"),
    when="metadata is lost, offsets/ has every batch of the table, the newest batch is pending",
)  # fmt: skip
def id_from_the_table(bench: AdviceBench) -> None:
    copied(bench, 3)
    bench.remove("metadata", "commits/2")
    bench.ask_doctor()
    bench.rewrite_id(id_in_the_table(bench))
    bench.put(3)
    bench.to("delta", bench.lines())
    bench.read("delta")


@wrongly(
    ("HF2201", "do not write it into a checkpoint that lacks that batch: Spark plans the batch "
     "again, and Delta drops its rows without an error"),
    when="metadata and the newest batch are lost, the id of the table is written back",
)  # fmt: skip
def id_from_the_table_without_its_batch(bench: AdviceBench) -> None:
    copied(bench, 3)
    identity = id_in_the_table(bench)
    bench.remove("metadata", "offsets/2", "commits/2", "sources/0/2")
    bench.rewrite_id(identity)
    bench.put(3)
    bench.to("delta", bench.lines(maxFilesPerTrigger=9))
    bench.read("delta")


@follows(
    ("HF2411", _NEWEST_BACK),
    ("HF3005", "holdfast backups TARGET     (put the newer checkpoint back)"),
    when="the checkpoint was rolled back by a batch, and a backup has it",
)
def table_ahead_and_restored(bench: AdviceBench) -> None:
    rolled_back(bench)
    bench.restore()
    bench.to("delta", bench.lines(maxFilesPerTrigger=9))
    bench.read("delta")


@wrongly(
    ("HF2411", "RESTORE and DELETE do not undo transaction identifiers: do not rely on them"),
    (WRONG, wrongfixes.RESTORE_TABLE),
    when="the checkpoint was rolled back by a batch, and the table by RESTORE as well",
)
def table_ahead_and_table_restored(bench: AdviceBench) -> None:
    rolled_back(bench)
    place = bench.folder / "out"
    version = len(log_of(bench)) - 2
    bench.spark.sql(f"restore table delta.`{place}` to version as of {version}")
    bench.to("delta", bench.lines())
    bench.read("delta")


@follows(
    ("HF2412", _RESTORE_LOST),
    ("HF3007", "holdfast backups TARGET     (put the old checkpoint back)"),
    when="the checkpoint was deleted, and Spark has begun a new one there",
)
def deleted_checkpoint_restored(bench: AdviceBench) -> None:
    copied(bench, 3)
    bench.back_up()
    shutil.rmtree(bench.folder / "checkpoint")
    bench.path("").mkdir()
    bench.rewrite_id(IDENTITY)
    (bench.path("offsets")).mkdir()
    bench.ask_doctor()
    shutil.rmtree(bench.folder / "checkpoint")
    bench.restore()
    bench.put(3)
    bench.to("delta", bench.lines())
    bench.read("delta")


@follows(
    ("HF2412", "if metadata was lost or written again: restore a backup --to another place, and "
     "copy its metadata back"),
    ("HF2443", "if metadata was lost or written again: restore a backup --to another place, and "
     "copy its metadata back"),
    when="metadata was written again with another id, and a batch is pending",
)  # fmt: skip
def metadata_restored(bench: AdviceBench) -> None:
    copied(bench, 3)
    bench.back_up()
    bench.remove("commits/2")
    bench.rewrite_id(IDENTITY)
    bench.ask_doctor()
    bench.restore_elsewhere("elsewhere")
    for name in ("metadata", ".metadata.crc"):
        shutil.copy2(bench.folder / "elsewhere" / name, bench.path(name))
    bench.put(3)
    bench.to("delta", bench.lines())
    bench.read("delta")


@follows(
    ("HF2412", "if another job writes this table too, and this checkpoint is new on purpose: "
     "nothing"),
    when="two jobs with different sources write one table",
)  # fmt: skip
def two_jobs_one_table(bench: AdviceBench) -> None:
    copied(bench, 3)
    bench.put(0, 1, into="more")
    bench.path("", "other").mkdir()
    (bench.path("metadata", "other")).write_text(f'{{"id":"{IDENTITY}"}}', encoding="utf-8")
    (bench.path("offsets", "other")).mkdir()
    bench.ask_doctor(checkpoint="other")
    bench.to("delta", bench.lines("more"), checkpoint="other")
    bench.put(3)
    bench.to("delta", bench.lines())
    bench.read("delta")


def with_identity(bench: AdviceBench, source: str, checkpoint: str, application: str) -> None:
    """Append to the table in foreachBatch, under an application id of one's own making."""

    def write(rows: Any, batch_id: int) -> None:
        writer = rows.write.format("delta").mode("append").option("txnAppId", application)
        writer.option("txnVersion", str(batch_id)).save(str(bench.folder / "out"))

    bench.run(bench.lines(source).writeStream.foreachBatch(write), checkpoint)


def new_checkpoint(bench: AdviceBench, checkpoint: str = "new") -> None:
    """Make the checkpoint of a query that has not planned anything yet, and ask about it."""
    bench.path("", checkpoint).mkdir()
    place = bench.path("metadata", checkpoint)
    place.write_text(f'{{"id":"{IDENTITY}"}}', encoding="utf-8")
    bench.path("offsets", checkpoint).mkdir()
    bench.ask_doctor(checkpoint=checkpoint)


@follows(
    ("HF2413", "if it is new on purpose and reads only data that the table does not have: use "
     "another txnAppId from its first batch on, such as one that holds the query id"),
    when="a new checkpoint for new files, with another txnAppId",
)  # fmt: skip
def another_application_for_new_data(bench: AdviceBench) -> None:
    bench.put(0, 1, 2)
    with_identity(bench, "in", "checkpoint", "orders-job")
    bench.put(0, 1, into="more")
    new_checkpoint(bench)
    with_identity(bench, "more", "new", f"orders-{IDENTITY}")
    bench.put(2, into="more")
    with_identity(bench, "more", "new", f"orders-{IDENTITY}")
    bench.read("delta")


@follows(
    ("HF2413", "if the checkpoint was lost: restore it from a backup (holdfast backups TARGET)"),
    when="the checkpoint of a job with a fixed txnAppId was deleted",
)
def checkpoint_of_application_restored(bench: AdviceBench) -> None:
    bench.put(0, 1, 2)
    with_identity(bench, "in", "checkpoint", "orders-job")
    bench.back_up()
    shutil.rmtree(bench.folder / "checkpoint")
    new_checkpoint(bench, "checkpoint")
    shutil.rmtree(bench.folder / "checkpoint")
    bench.restore()
    bench.put(3)
    with_identity(bench, "in", "checkpoint", "orders-job")
    bench.read("delta")


@wrongly(
    ("HF2413", "do not use another txnAppId to read the same data again: every row is then written "
     "twice"),
    when="the checkpoint was deleted, and the job starts with another txnAppId",
)  # fmt: skip
def another_application_for_the_same_data(bench: AdviceBench) -> None:
    bench.put(0, 1, 2)
    with_identity(bench, "in", "checkpoint", "orders-job")
    with_identity(bench, "in", "new", f"orders-{IDENTITY}")
    bench.read("delta")


@follows(
    ("HF2415", "keep the retention longer than the job is ever stopped"),
    ("HF3018", "unset delta.setTransactionRetentionDuration, or make it longer than any pause"),
    when="the retention was short, is made longer, and after a pause a batch runs again",
)
def retention_made_longer(bench: AdviceBench) -> None:
    copied(bench, 2)
    table = f"delta.`{bench.folder / 'out'}`"
    bench.spark.sql(f"alter table {table} set tblproperties ('{_RETENTION}' = 'interval 1 second')")
    bench.ask_doctor()
    bench.spark.sql(f"alter table {table} set tblproperties ('{_RETENTION}' = 'interval 9 days')")
    bench.put(2)
    bench.to("delta", bench.lines())
    time.sleep(1.5)
    bench.spark.sql(f"alter table {table} set tblproperties ('held' = 'fast')")
    bench.remove("commits/2")
    bench.to("delta", bench.lines())
    bench.read("delta")


@follows(
    ("HF2415", "set delta.setTransactionRetentionDuration of the table to longer than the job was "
     "stopped, for example to interval 3650 days: identifiers that still are in the log count "
     "again"),
    ("HF2415", "then examine it again: holdfast doctor TARGET --sink PATH"),
    when="the identifier of the pending batch, which the table holds, had expired",
)  # fmt: skip
def expired_identifier_remembered(bench: AdviceBench) -> None:
    copied(bench, 2)
    table = f"delta.`{bench.folder / 'out'}`"
    bench.spark.sql(f"alter table {table} set tblproperties ('{_RETENTION}' = 'interval 1 second')")
    time.sleep(1.5)
    bench.remove("commits/1")
    bench.ask_doctor()
    longer = f"alter table {table} set tblproperties ('{_RETENTION}' = 'interval 3650 days')"
    bench.spark.sql(longer)
    bench.ask_doctor()
    bench.put(2)
    bench.to("delta", bench.lines())
    bench.read("delta")


@follows(
    ("HF3018", "unset delta.setTransactionRetentionDuration, or make it longer than any pause"),
    when="the identifiers had expired, the retention is unset, and a batch runs again",
    unreported="a guard of holdfast run",
)
def retention_unset(bench: AdviceBench) -> None:
    copied(bench, 2)
    table = f"delta.`{bench.folder / 'out'}`"
    bench.spark.sql(f"alter table {table} set tblproperties ('{_RETENTION}' = 'interval 1 second')")
    time.sleep(1.5)
    bench.spark.sql(f"alter table {table} unset tblproperties ('{_RETENTION}')")
    bench.put(2)
    bench.to("delta", bench.lines())
    bench.remove("commits/2")
    bench.to("delta", bench.lines())
    bench.read("delta")


def _copy_behind(bench: AdviceBench) -> None:
    copied(bench, 2)
    bench.keep("checkpoint", "copy")
    bench.put(2)
    bench.to("delta", bench.lines())
    bench.ask_doctor_of_both("checkpoint", "copy")
    bench.put(3)


@follows(
    ("HF2421", "run only the one with the newer batches (holdfast diff ONE OTHER); keep the other "
     "as a backup, out of every job's reach"),
    ("HF4513", "start only the one with the newer batches; never both on the same sink"),
    when="a copy of the checkpoint is one batch behind, the newer one goes on",
)  # fmt: skip
def newer_copy_alone(bench: AdviceBench) -> None:
    _copy_behind(bench)
    bench.to("delta", bench.lines(maxFilesPerTrigger=9))
    bench.read("delta")


@wrongly(
    ("HF2421", "do not run the older one on the same sink: it plans batches that the sink has, and "
     "their rows are lost"),
    when="a copy of the checkpoint is one batch behind, and the copy goes on",
)  # fmt: skip
def older_copy_alone(bench: AdviceBench) -> None:
    _copy_behind(bench)
    bench.to("delta", bench.lines(maxFilesPerTrigger=9), checkpoint="copy")
    bench.read("delta")


@follows(
    ("HF2407", "foreachBatch: keep the batch id with the rows, in one transaction"),
    ("HF2326", "make the rows idempotent downstream by a key, or use a sink that keeps the batch "
     "id in the same transaction"),
    when="foreachBatch writes the batch id with the rows, and a batch runs again",
    unreported="the output then remembers batches, and a declared sink is needed for HF2326",
)  # fmt: skip
def batch_id_in_the_transaction(bench: AdviceBench) -> None:
    bench.put(0, 1)
    with_identity(bench, "in", "checkpoint", "orders-job")
    bench.remove("commits/1")
    bench.put(2)
    with_identity(bench, "in", "checkpoint", "orders-job")
    bench.read("delta")


@follows(
    ("HF2326", "make the rows idempotent downstream by a key, or use a sink that keeps the batch "
     "id in the same transaction"),
    when="foreachBatch merges the rows by their key, and a batch runs again",
    unreported="needs a declared sink, see tests/diagnosis/doctor/scenarios.py",
)  # fmt: skip
def merged_by_a_key(bench: AdviceBench) -> None:
    place = bench.folder / "out"
    bench.spark.createDataFrame([], "value string").write.format("delta").save(str(place))

    def merge(rows: Any, _batch_id: int) -> None:
        rows.createOrReplaceTempView("arrived")
        rows.sparkSession.sql(
            f"merge into delta.`{place}` t using arrived a on t.value = a.value "
            "when not matched then insert *"
        )

    bench.put(0, 1)
    bench.run(bench.lines().writeStream.foreachBatch(merge))
    bench.remove("commits/1")
    bench.put(2)
    bench.run(bench.lines().writeStream.foreachBatch(merge))
    bench.read("delta")


@follows(
    ("HF2406", "write to a table format, with a new output and a new checkpoint together"),
    when="a file sink's job goes over to Delta with a new output and a new checkpoint",
    unreported="the log would have to have grown for months, see "
    "tests/diagnosis/doctor/scenarios.py",
)
def over_to_a_table(bench: AdviceBench) -> None:
    bench.put(0, 1)
    bench.to("text", bench.lines())
    bench.put(2)
    bench.to("delta", bench.lines(), checkpoint="new", out="table")
    bench.read("delta", "table")


@follows(
    ("HF3006", "put the sink back to the state that belongs to this checkpoint"),
    ("HF3013", "put the output back, from a copy that was made after the last run ended"),
    when="the table was put back to an earlier version, and a copy of the newest one is there",
    unreported="a guard of holdfast run",
)
def table_put_back(bench: AdviceBench) -> None:
    copied(bench, 3)
    bench.keep("out", "kept")
    for entry in log_of(bench)[1:]:
        entry.unlink()
        entry.with_name(f".{entry.name}.crc").unlink(missing_ok=True)
        entry.with_suffix(".crc").unlink(missing_ok=True)
    bench.put_back("out")
    bench.put(3)
    bench.to("delta", bench.lines())
    bench.read("delta")
