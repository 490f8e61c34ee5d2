"""The PostgreSQL sink on a real server: every batch once, never two versions of a batch."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest

from holdfast.errors import SinkError
from holdfast.ledgers.database.postgres import LEDGER
from holdfast.ledgers.sinkstate import Contents, SinkAnswer
from tests.parts.postgres import rows_in
from tests.spark.sinks.deliveries import QUERY, identity, postgres_sink

pytestmark = pytest.mark.spark

SCHEMA = "sensor string, value int"
BATCHES = f"select batch_id from {LEDGER} where batch_id >= 0"


def frame(spark: Any, *rows: tuple[Any, ...], schema: str = SCHEMA) -> Any:
    """Give a batch of two partitions."""
    return spark.createDataFrame(list(rows), schema).repartition(2)


def readings(uri: str) -> list[tuple[Any, ...]]:
    """Give every row of the table, sorted."""
    return sorted(rows_in(uri, "select sensor, value from readings"), key=repr)


def tables(uri: str) -> set[str]:
    """Name the tables of the database."""
    found = rows_in(uri, "select tablename from pg_tables where schemaname = 'public'")
    return {row[0] for row in found}


def test_a_batch_is_appended_once_with_its_identity(spark: Any, database: str) -> None:
    """Again, from a new driver, and by a later generation: skipped. Nothing is left behind."""
    sink = postgres_sink(spark, database)
    batch = frame(spark, ("a", 1), ("b", None), ("é\t\\N\n", 3))
    sink.prepare(batch.schema, begun=False)
    assert tables(database) == set()
    first = sink.write(batch, identity(0))
    assert (first.skipped, first.rows) == (False, 3)
    assert sink.write(batch, identity(0)).skipped
    assert postgres_sink(spark, database).write(batch, identity(0, generation=2)).skipped
    assert readings(database) == [("a", 1), ("b", None), ("é\t\\N\n", 3)]
    columns = "table_name, query_id, batch_id, offsets_digest, generation, rows"
    ledger = rows_in(database, f"select {columns} from {LEDGER} where batch_id >= 0")
    assert ledger == [("readings", QUERY, 0, "d0", 1, 3)]
    assert tables(database) == {"readings", LEDGER}
    told = sink.last_committed(QUERY)
    assert (told.value, sink.queries()) == (0, {QUERY})
    assert "generation 1" in told.basis


def test_the_ledger_is_as_documented(spark: Any, database: str) -> None:
    """Column by column."""
    postgres_sink(spark, database).write(frame(spark, ("a", 1)), identity(0))
    query = "select attname, format_type(atttypid, atttypmod) from pg_attribute where attnum > 0 "
    found = rows_in(database, f"{query} and attrelid = '{LEDGER}'::regclass order by attnum")
    page = Path(__file__).parents[4] / "docs/reference/postgres-ledger.md"
    rows = re.findall(r"^\| `(\w+)` \| (\w+) \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert [(name, type_.replace("timestamptz", "timestamp with time zone"))
            for name, type_ in rows] == found  # fmt: skip


def test_an_upsert_keeps_one_row_a_key(spark: Any, database: str) -> None:
    """Names that need quoting; a column of the table's own stays as it is."""
    schema = "`a\"b` string, `It's` int, value int"
    sink = postgres_sink(spark, database, "upsert", table='"Order Lines"', key=('a"b', "It's"))
    batch = frame(spark, ("é", 1, 1), ("é", 2, 2), schema=schema)
    sink.prepare(batch.schema, begun=False)
    assert sink.write(batch, identity(0)).rows == 2
    rows_in(database, "alter table \"Order Lines\" add column note text default 'n'")
    newer = frame(spark, ("é", 2, 20), ("z", 3, 3), schema=schema)
    assert sink.write(newer, identity(1)).rows == 2
    assert sink.write(newer, identity(1)).skipped
    rows = sorted(rows_in(database, 'select * from "Order Lines"'))
    assert rows == [("z", 3, 3, "n"), ("é", 1, 1, "n"), ("é", 2, 20, "n")]
    only_key = postgres_sink(spark, database, "upsert", table="keys", key=("k",))
    for number in range(2):
        written = only_key.write(frame(spark, ("k",), schema="k string"), identity(number))
        assert written.rows == 1
    assert rows_in(database, "select * from keys") == [("k",)]


def test_a_rewind_takes_later_batches_back(spark: Any, database: str) -> None:
    """By the batch column; the batches can then be written anew, and rows of others stay."""
    sink = postgres_sink(spark, database, batch_column="batch id")
    for number in range(3):
        sink.write(frame(spark, ("a", number)), identity(number))
    rows_in(database, "insert into readings values ('mine', 7, null)")
    sink.rewind(QUERY, 0, generation=1)
    assert readings(database) == [("a", 0), ("mine", 7)]
    assert sink.last_committed(QUERY).value == 0
    assert not sink.write(frame(spark, ("b", 1)), identity(1, "new")).skipped
    rows_in(database, "insert into readings values ('foreign', 7, 1)")
    with pytest.raises(SinkError, match="not the job's, under batch 1") as caught:
        sink.rewind(QUERY, 0, generation=1)
    assert caught.value.code.number == "HF5011"
    assert (len(readings(database)), sink.last_committed(QUERY).value) == (4, 1)
    rows_in(database, f"update {LEDGER} set query_id = 'other' where batch_id = 1")
    with pytest.raises(SinkError, match="batches of another query"):
        sink.rewind(QUERY, 0, generation=1)
    with pytest.raises(SinkError, match="with a `batch_column`"):
        postgres_sink(spark, database).rewind(QUERY, 0, generation=1)


def test_clear_removes_rows_and_memory(spark: Any, database: str) -> None:
    """Unless there are more rows than the batches brought, or another query's."""
    sink = postgres_sink(spark, database)
    for number in range(2):
        sink.write(frame(spark, ("a", number)), identity(number))
    rows_in(database, "insert into readings values ('foreign', 7)")
    with pytest.raises(SinkError, match="3 rows, and its batches wrote at most 2") as caught:
        sink.clear(generation=1)
    assert caught.value.code.number == "HF5011"
    rows_in(database, "delete from readings where sensor = 'foreign'")
    sink.clear(generation=1)
    assert (readings(database), sink.queries()) == ([], frozenset())
    sink.write(frame(spark, ("a", 1)), identity(0))
    rows_in(database, f"update {LEDGER} set query_id = 'other' where batch_id >= 0")
    sink = postgres_sink(spark, database)
    sink.write(frame(spark, ("a", 1)), identity(0))
    with pytest.raises(SinkError, match="batches of several queries"):
        sink.clear(generation=1)


def test_nothing_there_is_nothing_to_take_back(spark: Any, database: str) -> None:
    """A fence is left all the same. Rows without a ledger are somebody else's."""
    sink = postgres_sink(spark, database, batch_column="batch")
    sink.rewind(QUERY, 0, generation=1)
    sink.clear(generation=1)
    assert tables(database) == {LEDGER}
    assert rows_in(database, BATCHES) == []
    rows_in(database, "create table readings as select 1 as batch")
    for act in (partial(sink.clear, generation=1), partial(sink.rewind, QUERY, 0, generation=1)):
        with pytest.raises(SinkError) as caught:
            act()
        assert caught.value.code.number == "HF5011"


def test_very_old_batches_are_known_without_a_row(
    spark: Any, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are skipped; nothing is written over by an older batch."""
    monkeypatch.setattr("holdfast.spark.sinks.database.ledger.KEPT_BATCHES", 2)
    sink = postgres_sink(spark, database)
    for number in range(4):
        sink.write(frame(spark, ("a", number)), identity(number))
    assert rows_in(database, f"{BATCHES} order by 1") == [(2,), (3,)]
    assert sink.write(frame(spark, ("x", 9)), identity(0)).skipped
    assert len(readings(database)) == 4


def test_prepare_refuses_what_would_fail_later(spark: Any, database: str) -> None:
    """Column, expected and found type are named; nothing is written."""
    rows_in(database, "create table readings (sensor text, value text, must int not null)")
    schema = frame(spark, ("a", 1)).schema
    sink = postgres_sink(spark, database)
    with pytest.raises(SinkError) as caught:
        sink.prepare(schema, begun=False)
    assert (caught.value.code.number, caught.value.at) == ("HF5005", "holdfast.yaml:11")
    assert "value is text in the table, the rows need integer" in caught.value.message
    assert "no column must, which cannot be null" in caught.value.message
    with pytest.raises(SinkError, match="no unique index on exactly the key"):
        postgres_sink(spark, database, "upsert", key=("sensor",)).prepare(schema, begun=False)
    with pytest.raises(SinkError, match="no schema sales"):
        postgres_sink(spark, database, table="sales.x").prepare(schema, begun=False)
    with pytest.raises(SinkError, match="the sink fills itself"):
        postgres_sink(spark, database, batch_column="VALUE").prepare(schema, begun=False)
    rows_in(database, "create view seen as select 1 as value")
    with pytest.raises(SinkError, match="is not a table"):
        postgres_sink(spark, database, table="seen").prepare(schema, begun=False)
    assert tables(database) == {"readings"}


def test_a_batch_whose_schema_changed_writes_nothing(spark: Any, database: str) -> None:
    """One column more, another type, capital letters."""
    sink = postgres_sink(spark, database)
    sink.write(frame(spark, ("a", 1)), identity(0))
    for schema, row, words in (
        (f"{SCHEMA}, more int", ("a", 1, 1), "the table has no column more"),
        ("sensor string, value bigint", ("a", 1), "value is integer in the table, the rows need"),
        ("Sensor string, value int", ("a", 1), "it has sensor: names are case-sensitive"),
    ):
        with pytest.raises(SinkError, match=words) as caught:
            sink.write(frame(spark, row, schema=schema), identity(1))
        assert caught.value.code.number == "HF5005"
    assert (readings(database), sink.last_committed(QUERY).value) == ([("a", 1)], 0)


def test_a_search_path_that_changes_does_not_move_the_table(spark: Any, database: str) -> None:
    """The schema is resolved once, before the first batch."""
    sink = postgres_sink(spark, database)
    batch = frame(spark, ("a", 1))
    sink.prepare(batch.schema, begun=False)
    rows_in(database, "create schema gold")
    name = rows_in(database, "select current_database()")[0][0]
    rows_in(database, f"alter database {name} set search_path = gold")
    sink.write(batch, identity(0))
    found = "select schemaname, tablename from pg_tables where schemaname in ('gold', 'public')"
    assert sorted(rows_in(database, found)) == [("public", LEDGER), ("public", "readings")]
    assert (sink.last_committed(QUERY).value, sink.queries()) == (0, {QUERY})
    other = postgres_sink(spark, database).sight(QUERY)
    assert (other.place or "").endswith(" gold.readings")
    assert (other.held.answer, other.contents) == (SinkAnswer.NOTHING, Contents.ABSENT)


def test_a_schema_qualified_table_has_its_own_ledger(spark: Any, database: str) -> None:
    """The same name in two schemas is two tables; the search path decides where none is named."""
    rows_in(database, 'create schema "Sales"')
    there = postgres_sink(spark, database, table='"Sales"."Order Lines"')
    assert not there.write(frame(spark, ("a", 1)), identity(0)).skipped
    here = postgres_sink(spark, database, table='"Order Lines"')
    assert here.last_committed(QUERY).value is None
    path = f"{database}&options=-csearch_path%3D%22Sales%22"
    assert postgres_sink(spark, path, table='"Order Lines"').last_committed(QUERY).value == 0
    with psycopg.connect(database) as connection:
        found = connection.execute('select * from "Sales"."Order Lines"').fetchall()
    assert found == [("a", 1)]


def test_a_table_that_is_removed_while_the_job_runs_stops_it(spark: Any, database: str) -> None:
    """Whether it is dropped or replaced; the start judges it. In mode complete it is made again."""
    sink = postgres_sink(spark, database)
    batch = frame(spark, ("a", 1))
    sink.prepare(batch.schema, begun=False)
    sink.write(batch, identity(0))
    rows_in(database, "drop table readings")
    for create in ("select", "create table readings (sensor text, value integer)"):
        rows_in(database, create)
        with pytest.raises(SinkError, match="was removed while the job ran") as caught:
            sink.write(batch, identity(1))
        assert (caught.value.code.number, caught.value.exit_status) == ("HF5027", 50)
        assert ("readings" in tables(database)) == create.startswith("create")
    assert (readings(database), sink.last_committed(QUERY).value) == ([], 0)
    started = postgres_sink(spark, database)
    started.prepare(batch.schema, begun=True)
    rows_in(database, "drop table readings")
    with pytest.raises(SinkError, match="was removed while the job ran"):
        started.write(batch, identity(1))
    accepted = postgres_sink(spark, database)
    accepted.prepare(batch.schema, begun=True)
    assert accepted.write(batch, identity(1)).rows == 1
    whole = postgres_sink(spark, database, "complete", table="whole")
    whole.write(batch, identity(0))
    rows_in(database, "drop table whole")
    assert whole.write(batch, identity(1)).rows == 1
