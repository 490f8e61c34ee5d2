"""The code of an audited project: what makes its rows, and functions that deliver them.

It is copied into the project's folder as it is. The functions whose names begin with `broken` are
wrong on purpose: the judge has to convict each of them.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import holdfast
from holdfast.crashpoints import reach

DYING = "AUDIT_DIES_AT"
"""Set to 2, the second time that the second task of a batch begins is the end."""

HERE = Path(__file__).resolve().parent


def rows(source: Any) -> Any:
    """Give every row, in two tasks, all of one `k` in the same."""
    return _mortal(source.select("n", "k").repartition(2, "k"))


def latest(source: Any) -> Any:
    """Give rows to upsert by `k`, several of one key in a batch."""
    return _mortal(source.select("n", "k").repartition(2, "k"))


def counted(source: Any) -> Any:
    """Count the rows of each `k`."""
    return _mortal(source.groupBy("k").agg({"*": "count", "n": "sum"}).toDF("k", "number", "total"))


def _mortal(frame: Any) -> Any:
    """Give the same rows; the process dies between the first and the second task if asked to."""
    wanted = int(os.environ.get(DYING, "0"))
    if not wanted:
        return frame
    group, count = os.getpgrp(), str(HERE / "second-tasks")

    def pass_on(batches: Iterator[Any]) -> Iterator[Any]:
        from pyspark import TaskContext

        context = TaskContext.get()
        if context is not None and context.partitionId() == 1:
            with open(count, "a+") as file:  # noqa: PTH123 - runs where Path is not at hand
                file.write("x")
                file.flush()
                if file.tell() == wanted:
                    os.killpg(group, signal.SIGKILL)
        yield from batches

    return frame.mapInArrow(pass_on, frame.schema)


@holdfast.once_per_batch
def deliver(batch: Any, identity: holdfast.BatchIdentity) -> None:
    """Replace what was written under the batch's key: the right way."""
    with _database() as database:
        database.execute("delete from written where key = ?", (identity.key,))
        _insert(database, batch, identity)


def broken_without_ledger(batch: Any, identity: holdfast.BatchIdentity) -> None:
    """Append, whoever asks and however often."""
    with _database() as database:
        _insert(database, batch, identity)


def broken_ledger_first(batch: Any, identity: holdfast.BatchIdentity) -> None:
    """Remember the batch before its rows are in."""
    if not _remember(f"{identity.query_id} {identity.batch_id}"):
        return
    reach("control.between")
    with _database() as database:
        _insert(database, batch, identity)


def broken_ledger_after(batch: Any, identity: holdfast.BatchIdentity) -> None:
    """Remember the batch in a transaction of its own after its rows are in."""
    entry = f"{identity.query_id} {identity.batch_id}"
    if _knows(entry):
        return
    with _database() as database:
        _insert(database, batch, identity)
    reach("control.between")
    _remember(entry)


def broken_keyed_without_query(batch: Any, identity: holdfast.BatchIdentity) -> None:
    """Take the batch of another query for the same one."""
    entry = str(identity.batch_id)
    if _knows(entry):
        return
    with _database() as database:
        _insert(database, batch, identity)
        database.execute("insert into ledger values (?)", (entry,))


def broken_keyed_by_run(batch: Any, identity: holdfast.BatchIdentity) -> None:
    """Take the same batch of another run for another one."""
    entry = f"{identity.query_id} {identity.batch_id} {identity.generation}"
    if _knows(entry):
        return
    with _database() as database:
        _insert(database, batch, identity)
        database.execute("insert into ledger values (?)", (entry,))


def broken_row_by_row(batch: Any, identity: holdfast.BatchIdentity) -> None:
    """Show rows before the whole batch is in, and go on after those that are there."""
    for number, row in enumerate(batch.collect()):
        with _database() as database:
            known = database.execute("select 1 from written where n = ?", (row["n"],)).fetchone()
            if known is None:
                values = (row["n"], row["k"], identity.key)
                database.execute("insert into written values (?, ?, ?)", values)
        if number:
            reach("control.between")


@contextlib.contextmanager
def _database() -> Iterator[sqlite3.Connection]:
    """Open the output; what is done in it is committed together."""
    folder = HERE / "lake"
    folder.mkdir(exist_ok=True)
    with contextlib.closing(sqlite3.connect(folder / "written")) as database:
        database.execute("create table if not exists written (n integer, k text, key text)")
        database.execute("create table if not exists ledger (entry text)")
        with database:
            yield database


def _insert(database: sqlite3.Connection, batch: Any, identity: holdfast.BatchIdentity) -> None:
    given = [(row["n"], row["k"], identity.key) for row in batch.collect()]
    database.executemany("insert into written values (?, ?, ?)", given)


def _knows(entry: str) -> bool:
    with _database() as database:
        found = database.execute("select 1 from ledger where entry = ?", (entry,)).fetchone()
    return found is not None


def _remember(entry: str) -> bool:
    """Write an entry; False where it is there already."""
    if _knows(entry):
        return False
    with _database() as database:
        database.execute("insert into ledger values (?)", (entry,))
    return True
