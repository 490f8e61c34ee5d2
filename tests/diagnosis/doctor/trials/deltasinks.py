"""Trials of Delta's sink: which identifier it remembers, for how long, and what it skips."""

from __future__ import annotations

import json
import shutil
import time
import uuid
from pathlib import Path
from typing import Any

from tests.diagnosis.doctor.trials.bench import Bench, remove
from tests.diagnosis.doctor.trials.trial import tries

IDENTITY = str(uuid.UUID(int=7))


def copied(bench: Bench, batches: int) -> None:
    """Copy some files, one a batch, into a Delta table."""
    bench.put(*range(batches))
    bench.to("delta", bench.lines())


def log_of(bench: Bench) -> list[Path]:
    """Give the entries of the table's log, oldest first."""
    return sorted((bench.folder / "out/_delta_log").glob("0*.json"))


@tries("the query id was replaced, nothing is pending", needs="jars")
def delta_new_id(bench: Bench) -> None:
    copied(bench, 3)
    bench.rewrite_id(IDENTITY)
    bench.put(3)
    bench.to("delta", bench.lines())
    bench.read("delta")


@tries("the query id was replaced, and the newest batch runs again", needs="jars")
def delta_new_id_and_pending(bench: Bench) -> None:
    copied(bench, 3)
    bench.rewrite_id(IDENTITY)
    bench.remove("commits/2")
    bench.to("delta", bench.lines())
    bench.read("delta")


@tries("advice: a replaced query id is written back, offsets/ has every batch", needs="jars")
def delta_former_id_restored(bench: Bench) -> None:
    copied(bench, 3)
    former = json.loads(bench.path("metadata").read_text(encoding="utf-8"))["id"]
    bench.rewrite_id(IDENTITY)
    bench.remove("commits/2")
    bench.rewrite_id(former)
    bench.put(3)
    bench.to("delta", bench.lines())
    bench.read("delta")


@tries("wrong advice: the id that the table knows is written into a new checkpoint", needs="jars")
def delta_former_id_in_new_checkpoint(bench: Bench) -> None:
    copied(bench, 5)
    former = bench.path("metadata").read_text(encoding="utf-8")
    new = bench.folder / "new"
    new.mkdir()
    (new / "metadata").write_text(former, encoding="utf-8")
    bench.put(*range(5, 12))
    bench.to("delta", bench.lines("in", maxFilesPerTrigger=2), checkpoint="new")
    bench.read("delta")


@tries("a new checkpoint reads the same input into the old table", needs="jars")
def delta_new_checkpoint(bench: Bench) -> None:
    copied(bench, 3)
    bench.to("delta", bench.lines(), checkpoint="new")
    bench.read("delta")


@tries("the checkpoint was rolled back, and a batch takes more files now", needs="jars")
def delta_rolled_back(bench: Bench) -> None:
    copied(bench, 3)
    bench.remove("offsets/2", "commits/2", "sources/0/2")
    bench.put(3)
    bench.to("delta", bench.lines(maxFilesPerTrigger=9))
    bench.read("delta")


@tries("the identifier of the query was closed with the highest version", needs="jars")
def delta_identifier_closed(bench: Bench) -> None:
    copied(bench, 2)
    identity = json.loads(bench.path("metadata").read_text(encoding="utf-8"))["id"]
    writer = bench.spark.createDataFrame([], "value string").write.format("delta")
    writer = writer.option("txnAppId", identity).option("txnVersion", str(2**63 - 1))
    writer.mode("append").save(str(bench.folder / "out"))
    bench.put(2)
    bench.to("delta", bench.lines())
    bench.read("delta")


@tries("foreachBatch with a fixed txnAppId, and a new checkpoint for new files", needs="jars")
def delta_fixed_identifier(bench: Bench) -> None:
    def write(rows: Any, batch_id: int) -> None:
        writer = rows.write.format("delta").mode("append").option("txnAppId", "orders-job")
        writer.option("txnVersion", str(batch_id)).save(str(bench.folder / "out"))

    bench.put(0, 1, 2)
    bench.run(bench.lines().writeStream.foreachBatch(write))
    bench.put(0, 1, into="more")
    bench.run(bench.lines("more").writeStream.foreachBatch(write), "new")
    bench.read("delta")


@tries("the table was put back to an earlier version", needs="jars")
def delta_table_behind(bench: Bench) -> None:
    copied(bench, 3)
    for entry in log_of(bench)[1:]:
        remove(entry)
        entry.with_suffix(".crc").unlink(missing_ok=True)
    bench.put(3)
    bench.to("delta", bench.lines())
    bench.read("delta")


@tries("the identifiers had expired when a batch ran again", needs="jars")
def delta_identifier_expired(bench: Bench) -> None:
    copied(bench, 2)
    table = f"delta.`{bench.folder / 'out'}`"
    name = "delta.setTransactionRetentionDuration"
    bench.spark.sql(f"alter table {table} set tblproperties ('{name}' = 'interval 1 second')")
    time.sleep(1.5)
    bench.spark.sql(f"alter table {table} set tblproperties ('held' = 'fast')")
    bench.remove("commits/1")
    bench.to("delta", bench.lines())
    bench.read("delta")


@tries("advice: the retention was raised before a batch with an expired identifier ran again",
       needs="jars")  # fmt: skip
def delta_retention_raised(bench: Bench) -> None:
    copied(bench, 2)
    table = f"delta.`{bench.folder / 'out'}`"
    name = "delta.setTransactionRetentionDuration"
    bench.spark.sql(f"alter table {table} set tblproperties ('{name}' = 'interval 1 second')")
    time.sleep(1.5)
    bench.spark.sql(f"alter table {table} set tblproperties ('{name}' = 'interval 3650 days')")
    bench.remove("commits/1")
    bench.to("delta", bench.lines())
    bench.read("delta")


@tries("a batch whose commit was lost runs again, the table remembers it", needs="jars")
def delta_batch_again(bench: Bench) -> None:
    copied(bench, 2)
    bench.remove("commits/1")
    bench.to("delta", bench.lines())
    bench.read("delta")


@tries("older versions of the table's log are gone, and no checkpoint of it stands", needs="jars")
def delta_log_truncated(bench: Bench) -> None:
    copied(bench, 4)
    for entry in log_of(bench)[:2]:
        remove(entry)
        entry.with_suffix(".crc").unlink(missing_ok=True)
    bench.put(4)
    bench.to("delta", bench.lines())
    bench.read("delta")


@tries("the log was cleaned behind a checkpoint of Delta, and a batch runs again", needs="jars")
def delta_log_in_checkpoint(bench: Bench) -> None:
    copied(bench, 12)
    for entry in log_of(bench)[:10]:
        remove(entry)
        entry.with_suffix(".crc").unlink(missing_ok=True)
    bench.remove("commits/11")
    bench.to("delta", bench.lines())
    bench.read("delta")


def _table(bench: Bench, numbers: range) -> None:
    for number in numbers:
        words = [f"{number}-{letter}" for letter in "ab"]
        rows = bench.spark.createDataFrame([(word,) for word in words], "value string").coalesce(1)
        rows.write.format("delta").mode("append").save(str(bench.folder / "source"))
        bench.expected.update(words)


@tries("a batch of a Delta source that takes nothing is pending", needs="jars")
def delta_source_idle(bench: Bench) -> None:
    def stream() -> Any:
        reader = bench.spark.readStream.format("delta").option("maxFilesPerTrigger", "1")
        return reader.load(str(bench.folder / "source"))

    _table(bench, range(3))
    bench.deliver(stream())
    newest = bench.newest("offsets/*")
    following = newest.with_name(str(int(newest.name) + 1))
    shutil.copy(newest, following)
    _table(bench, range(3, 4))
    bench.deliver(stream())
