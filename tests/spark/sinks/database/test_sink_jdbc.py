"""The JDBC sink on PostgreSQL and H2: every batch once, never two versions of a batch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import SinkError
from holdfast.ledgers.database.postgres import LEDGER
from tests.drawing import draw
from tests.spark.sinks.database.jdbcplaces import Place, h2_place, postgres_place
from tests.spark.sinks.deliveries import QUERY, identity, postgres_sink

pytestmark = [pytest.mark.spark, draw("place")]

SCHEMA = "sensor string, value int"


@pytest.fixture(params=["h2", "postgres"])
def place(request: pytest.FixtureRequest, spark: Any) -> Iterator[Place]:
    """Give a fresh database."""
    if request.param == "h2":
        yield h2_place(spark, request.getfixturevalue("h2"))
        return
    with postgres_place(spark, request.getfixturevalue("database")) as found:
        yield found


def frame(place: Place, *rows: tuple[Any, ...], schema: str = SCHEMA) -> Any:
    """Give a batch of two partitions."""
    return place.session.createDataFrame(list(rows), schema).repartition(2)


def readings(place: Place) -> list[tuple[Any, ...]]:
    """Give every row of the table, sorted."""
    return sorted(place.rows('select "sensor", "value" from readings'), key=repr)


def test_a_batch_is_appended_once_with_its_identity(place: Place) -> None:
    """Again, from a new driver, and by a later generation: skipped. Nothing is left behind."""
    sink = place.sink(batch_column="batch id")
    batch = frame(place, ("a", 1), ("b", None), ("é\t\\N\n", 3))
    assert (sink.last_committed(QUERY).value, sink.queries()) == (None, frozenset())
    sink.prepare(batch.schema, begun=False)
    assert place.tables() == set()
    first = sink.write(batch, identity(0))
    assert (first.skipped, first.rows) == (False, 3)
    assert sink.write(batch, identity(0)).skipped
    later = place.sink(batch_column="batch id")
    assert later.write(batch, identity(0, generation=2)).skipped
    assert readings(place) == [("a", 1), ("b", None), ("é\t\\N\n", 3)]
    columns = 'table_name, query_id, batch_id, offsets_digest, generation, "rows"'
    if place.uri is None:
        columns = columns.upper()
    ((table, *ledger),) = place.rows(f"select {columns} from {LEDGER} where batch_id >= 0")
    assert (table.lower(), ledger) == ("readings", [QUERY, 0, "d0", 1, 3])
    assert place.tables() == {"readings", LEDGER}
    told = sink.last_committed(QUERY)
    assert (told.value, sink.queries()) == (0, {QUERY})
    assert "generation 1" in told.basis


def test_other_offsets_stop_the_job_and_write_nothing(place: Place) -> None:
    """For the newest batch and for an older one; an older one of the same offsets is skipped."""
    sink = place.sink()
    for number in range(2):
        sink.write(frame(place, ("a", number)), identity(number))
    for number in range(2):
        with pytest.raises(SinkError, match=f"has batch {number} with different offsets") as caught:
            sink.write(frame(place, ("x", 9)), identity(number, "other"))
        assert (caught.value.code.number, caught.value.exit_status) == ("HF5003", 50)
    assert sink.write(frame(place, ("a", 0)), identity(0)).skipped
    assert readings(place) == [("a", 0), ("a", 1)]


def test_complete_replaces_everything_and_an_empty_batch_is_remembered(place: Place) -> None:
    """The first one makes the table; an empty complete one empties it."""
    sink = place.sink("complete")
    batch = frame(place, ("a", 1))
    assert sink.write(batch.where("false"), identity(0)).rows == 0
    assert sink.last_committed(QUERY).value == 0
    assert sink.write(frame(place, ("a", 1), ("b", 2)), identity(1)).rows == 2
    assert sink.write(frame(place, ("a", 9)), identity(2)).rows == 1
    assert readings(place) == [("a", 9)]
    assert not sink.write(batch.where("false"), identity(3)).skipped
    assert (readings(place), sink.last_committed(QUERY).value) == ([], 3)


def test_an_upsert_keeps_one_row_a_key(place: Place) -> None:
    """Names that need quoting; two rows of a key are found before anything is made."""
    schema = "`a\"b` string, `It's` int, value int"
    options: dict[str, Any] = {"table": '"Order Lines"', "key": ('a"b', "It's")}
    sink = place.sink("upsert", **options)
    twice = frame(place, ("é", 1, 1), ("é", 1, 2), schema=schema)
    with pytest.raises(SinkError) as caught:
        sink.write(twice, identity(0))
    assert (caught.value.code.number, place.tables()) == ("HF5007", set())
    with pytest.raises(SinkError) as caught:
        sink.write(frame(place, ("é", None, 1), schema=schema), identity(0))
    assert (caught.value.code.number, place.tables()) == ("HF5008", set())
    ordered = place.sink("upsert", order_by="value", **options)
    assert ordered.write(twice.union(twice.selectExpr("*").limit(0)), identity(0)).rows == 1
    newer = frame(place, ("é", 1, 20), ("z", 3, 3), schema=schema)
    assert sink.write(newer, identity(1)).rows == 2
    assert sink.write(newer, identity(1)).skipped
    rows = sorted(place.rows('select "a""b", "It\'s", "value" from "Order Lines"'))
    assert rows == [("z", 3, 3), ("é", 1, 20)]
    place.rows('alter table "Order Lines" add column note varchar(9)')
    with pytest.raises(SinkError, match=r"no column note, which an upsert would empty|NOTE"):
        sink.write(newer, identity(2))


def test_a_rewind_takes_later_batches_back(place: Place) -> None:
    """By the batch column; rows of others stay, and where they can't be told apart it refuses."""
    sink = place.sink(batch_column="batch")
    for number in range(3):
        sink.write(frame(place, ("a", number)), identity(number))
    place.rows("insert into readings values ('mine', 7, null)")
    sink.rewind(QUERY, 0, generation=1)
    assert readings(place) == [("a", 0), ("mine", 7)]
    assert sink.last_committed(QUERY).value == 0
    assert not sink.write(frame(place, ("b", 1)), identity(1, "new")).skipped
    place.rows("insert into readings values ('foreign', 7, 1)")
    with pytest.raises(SinkError, match="not the job's, under batch 1") as caught:
        sink.rewind(QUERY, 0, generation=1)
    assert caught.value.code.number == "HF5011"
    assert (len(readings(place)), sink.last_committed(QUERY).value) == (4, 1)
    with pytest.raises(SinkError, match="with a `batch_column`"):
        place.sink().rewind(QUERY, 0, generation=1)
    place.rows(f"update {LEDGER} set query_id = 'other' where batch_id = 1")
    for act in (partial(sink.rewind, QUERY, 0, generation=1), partial(sink.clear, generation=1)):
        with pytest.raises(SinkError, match=r"batches of (another query|several queries)"):
            act()


def test_clear_removes_rows_and_memory(place: Place) -> None:
    """Unless there are more rows than the batches brought; a fence is left where nothing is."""
    sink = place.sink(batch_column="batch")
    sink.clear(generation=1)
    sink.rewind(QUERY, 0, generation=1)
    assert place.tables() == {LEDGER}
    sink.write(frame(place, ("a", 1), ("b", 2)), identity(0))
    place.rows("insert into readings values ('foreign', 7, null)")
    with pytest.raises(SinkError, match="3 rows, and its batches wrote at most 2") as caught:
        sink.clear(generation=1)
    assert (caught.value.code.number, len(readings(place))) == ("HF5011", 3)
    place.rows("delete from readings where \"sensor\" = 'foreign'")
    sink.clear(generation=1)
    assert (readings(place), sink.queries()) == ([], frozenset())


def test_prepare_refuses_what_would_fail_later(place: Place) -> None:
    """Column, expected and found type are named; nothing is written."""
    place.rows('create table readings (sensor varchar(9), "value" varchar(9), must int not null)')
    place.rows('create view "seen" as select 1 as one')
    schema = frame(place, ("a", 1)).schema
    with pytest.raises(SinkError) as caught:
        place.sink().prepare(schema, begun=False)
    assert (caught.value.code.number, caught.value.at) == ("HF5005", "holdfast.yaml:11")
    message = caught.value.message.lower()
    assert re.search(r"value is (varchar|character varying) in the table, the rows need integer",
                     message)  # fmt: skip
    assert "no column must, which cannot be null" in message
    with pytest.raises(SinkError, match=r"no schema (sales|SALES)"):
        place.sink(table="sales.x").prepare(schema, begun=False)
    with pytest.raises(SinkError, match="the sink fills itself"):
        place.sink(batch_column="VALUE").prepare(schema, begun=False)
    with pytest.raises(SinkError, match="is not a table"):
        place.sink(table='"seen"').prepare(schema, begun=False)
    nested = frame(place, ([1],), schema="many array<int>").schema
    with pytest.raises(SinkError, match=r"many is array<int>") as caught:
        place.sink().prepare(nested, begun=False)
    assert "postgres" in caught.value.next_steps[1] and "delta" in caught.value.next_steps[1]
    assert place.tables() == {"readings", "seen"}


def test_a_batch_whose_schema_changed_writes_nothing(place: Place) -> None:
    """One column more, another type; in a schema of its own, with a ledger of its own."""
    place.rows('create schema "Sales"')
    sink = place.sink(table='"Sales".readings')
    sink.write(frame(place, ("a", 1)), identity(0))
    for schema, row, words in (
        (f"{SCHEMA}, more int", ("a", 1, 1), "the table has no column more"),
        ("sensor string, value bigint", ("a", 1), "the rows need BIGINT"),
        ("sensor string, value decimal(9,2)", ("a", Decimal(1)), "the rows need NUMERIC"),
    ):
        with pytest.raises(SinkError, match=words) as caught:
            sink.write(frame(place, row, schema=schema), identity(1))
        assert caught.value.code.number == "HF5005"
    assert sink.last_committed(QUERY).value == 0
    assert place.rows('select "sensor" from "Sales".readings') == [("a",)]
    assert (place.sink().last_committed(QUERY).value, place.tables()) == (None, set())
    smaller = frame(place, ("b", 1), schema="Sensor string, VALUE tinyint")
    assert sink.write(smaller, identity(1)).rows == 1


def test_values_arrive_exactly(place: Place) -> None:
    """Decimals, bytes, moments before 1970 and with zone, and nulls of every type."""
    schema = (
        "big bigint, small smallint, tiny tinyint, d double, f float, yes boolean, "
        "amount decimal(38,18), day date, at timestamp, wall timestamp_ntz, raw binary, word string"
    )
    amount, text = Decimal("-12345678901234567890.123456789012345678"), "a\"b'\\ ü 🌍"
    made = place.session.createDataFrame(
        [(-(2**63), -(2**15), -128, 0.1, 0.5, True, amount, date(1583, 1, 2), bytearray(b"\0\xff"),
          text)],
        "big bigint, small smallint, tiny tinyint, d double, f float, yes boolean, "
        "amount decimal(38,18), day date, raw binary, word string",
    ).selectExpr(
        "big", "small", "tiny", "d", "f", "yes", "amount", "day",
        "timestamp'1899-12-31 23:59:58.123456+05:30' as at",
        "timestamp_ntz'1945-06-07 08:09:10.000001' as wall", "raw", "word",
    )  # fmt: skip
    empty = place.session.createDataFrame([(None,) * 12], schema)
    sink = place.sink()
    sink.prepare(made.schema, begun=False)
    assert sink.write(made.union(empty), identity(0)).rows == 2
    at_zone = "\"at\" at time zone 'UTC'"
    if place.uri is None:
        at_zone = "cast(\"at\" at time zone interval '0' hour as timestamp(6))"
    ((*plain, moment, wall),) = place.rows(
        'select "big", "small", "tiny", "d", "f", "yes", "amount", cast("day" as varchar), '
        f'"word", cast({at_zone} as varchar), cast("wall" as varchar) from readings '
        'where "big" is not null and "raw" is not null'
    )
    assert plain == [-(2**63), -(2**15), -128, 0.1, 0.5, True, amount, "1583-01-02", text]
    assert (moment, wall) == ("1899-12-31 18:29:58.123456", "1945-06-07 08:09:10.000001")
    assert place.rows('select count(*) from readings where "at" is null and "yes" is null') == [
        (1,)
    ]
    sink.prepare(made.schema, begun=True)


def test_the_ledger_is_as_documented_and_the_postgres_sinks_too(spark: Any, database: str) -> None:
    """A job may change between the two formats, both ways."""
    with postgres_place(spark, database) as place:
        batch = frame(place, ("a", 1))
        place.sink().write(batch, identity(0))
        other = postgres_sink(spark, database)
        assert other.write(batch, identity(0)).skipped
        assert not other.write(batch, identity(1)).skipped
        assert place.sink().write(batch, identity(1)).skipped
        query = "select column_name from information_schema.columns where table_name"
        found = place.rows(f"{query} = '{LEDGER}' order by ordinal_position")
    page = Path(__file__).parents[4] / "docs/reference/jdbc-ledger.md"
    rows = re.findall(r"^\| `(\w+)` \|", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert [(name,) for name in rows] == found


def test_a_table_that_is_removed_while_the_job_runs_stops_it(spark: Any, h2: str) -> None:
    """Nothing is written; a new start creates it."""
    place = h2_place(spark, h2)
    sink = place.sink()
    sink.write(frame(place, ("a", 1)), identity(0))
    place.rows("drop table readings")
    with pytest.raises(SinkError, match="was removed while the job ran") as caught:
        sink.write(frame(place, ("b", 2)), identity(1))
    assert caught.value.code.number == "HF5027"
    assert "readings" not in place.tables()
    assert place.sink().write(frame(place, ("b", 2)), identity(1)).rows == 1


def test_a_driver_that_is_missing_is_told(spark: Any) -> None:
    """With where its jar is named; asked, the sink does not raise."""
    schema = spark.createDataFrame([("a", 1)], SCHEMA).schema
    place = Place(spark, "jdbc:nowhere:scott/tiger-tiger@//host:1/db?password=hunter-two-2", None)
    for options, words in (
        ({}, "contains a driver for jdbc:nowhere"),
        ({"driver": "no.Such"}, "no.Such"),
    ):
        sink = place.sink(options=options)
        with pytest.raises(SinkError, match=words) as caught:
            sink.prepare(schema, begun=False)
        assert caught.value.code.number == "HF5070"
        assert "spark.jars" in caught.value.next_steps[0]
        told = sink.last_committed(QUERY)
        assert told.value is None and words in told.basis
        assert sink.queries() == frozenset()
        for text in (caught.value.message, told.basis, sink.identity):
            assert "hunter-two-2" not in text and "tiger-tiger" not in text
