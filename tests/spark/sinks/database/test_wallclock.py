"""Moments in columns without a time zone: as Spark's own JDBC writer writes them, in one zone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from holdfast.errors import SinkError
from holdfast.ledgers.database.postgres import LEDGER
from holdfast.spark.sinks.database.wallclock import promised_in, refuse_other_zone, writing_zone
from tests.parts.postgres import rows_in
from tests.spark.sinks.database.jdbcplaces import Place, h2_place, postgres_place
from tests.spark.sinks.deliveries import identity, postgres_sink

pytestmark = pytest.mark.spark

BERLIN = "Europe/Berlin"
GAP, OVERLAP = 1_616_893_200_000_000, 1_635_642_000_000_000
"""When clocks in Berlin were put forward and back in 2021."""
HALF_AN_HOUR, DAY = 1_800_000_000, 86_400_000_000
MICROSECONDS = (
    *(GAP + step for step in (-HALF_AN_HOUR, -1, 0, HALF_AN_HOUR)),
    *(OVERLAP + step for step in (-HALF_AN_HOUR, -1, 0, HALF_AN_HOUR)),
    *(0, -1, 951_782_399_999_999),
    *(-2_208_988_800_000_000 - 1, -2_243_552_400_000_000, -2_422_054_408_000_000 - 1),
    *(-12_614_400_000_000_000, -12_219_292_800_000_000 + DAY, -62_135_596_800_000_000 + DAY),
    253_402_300_799_999_999 - DAY,
)
"""Also before 1900, where Java's older zones know no local mean time, and before 1582."""
WALL = ("1945-06-07 08:09:10.000001", "1582-10-04 01:02:03", "0001-01-01 00:00:00",
        "2021-10-31 02:30:00", "9999-12-31 23:59:59.999999")  # fmt: skip
CREATE = "create table {} (n bigint, at timestamp, wall timestamp)"
BYTES = "select n, timestamp_send(at), timestamp_send(wall) from {} order by n, at"


@contextmanager
def zone(spark: Any, name: str, session: str = "Asia/Kolkata") -> Iterator[None]:
    """Let the JVM run in this time zone; the session is told another one."""
    zones = spark._jvm.java.util.TimeZone
    before, told = zones.getDefault(), spark.conf.get("spark.sql.session.timeZone")
    zones.setDefault(zones.getTimeZone(name))
    spark.conf.set("spark.sql.session.timeZone", session)
    try:
        yield
    finally:
        zones.setDefault(before)
        spark.conf.set("spark.sql.session.timeZone", told)


def moments(spark: Any) -> Any:
    """Give a batch with moments, and with wall clocks that never had a zone."""
    rows = [(n, WALL[place % len(WALL)]) for place, n in enumerate(MICROSECONDS)]
    return spark.createDataFrame(rows, "n long, wall string").selectExpr(
        "n", "timestamp_micros(n) as at", "cast(wall as timestamp_ntz) as wall"
    )


def by_spark(place: Place, batch: Any, table: str) -> None:
    """Write with Spark's own JDBC writer."""
    driver = "org.h2.Driver" if place.uri is None else "org.postgresql.Driver"
    options = {"url": place.url, "dbtable": table, "driver": driver}
    batch.write.format("jdbc").options(**options).mode("append").save()


@pytest.mark.parametrize("name", ["UTC", BERLIN, "America/St_Johns"])
def test_postgresql_gets_the_bytes_that_spark_writes(spark: Any, database: str, name: str) -> None:
    """From both sinks; where clocks go back, where they go forward, before 1900 and before 1582."""
    tables = ("by_spark", "by_postgres", "by_jdbc")
    for table in tables:
        rows_in(database, CREATE.format(table))
    with zone(spark, name), postgres_place(spark, database) as place:
        batch = moments(spark)
        by_spark(place, batch, "by_spark")
        for sink in (
            postgres_sink(spark, database, table="by_postgres"),
            place.sink(table="by_jdbc"),
        ):
            sink.prepare(batch.schema, begun=False)
            assert (
                f"at (timestamp without time zone) are written in the JVM's time zone {name}"
                in (sink.promise)
            )
            assert not sink.write(batch, identity(0)).skipped
    written = [rows_in(database, BYTES.format(table)) for table in tables]
    assert len(written[0]) == len(MICROSECONDS)
    assert written[1] == written[0]
    assert written[2] == written[0]


def test_h2_gets_what_spark_writes(spark: Any, h2: str) -> None:
    """In a table that Spark made."""
    place = h2_place(spark, h2)
    batch = moments(spark)
    by_spark(place, batch.limit(0), "spark_made")
    by_spark(place, batch, "by_spark")
    sink = place.sink(table='"SPARK_MADE"')
    sink.prepare(batch.schema, begun=False)
    assert writing_zone(spark) in sink.promise
    assert not sink.write(batch, identity(0)).skipped
    query = 'select "n", cast("at" as varchar), cast("wall" as varchar) from {} order by 1, 2'
    written = [place.rows(query.format(table)) for table in ("by_spark", "spark_made")]
    assert len(written[0]) == len(MICROSECONDS) and written[0] == written[1]


@pytest.fixture(params=["postgres", "jdbc"])
def opened(
    request: pytest.FixtureRequest, spark: Any, database: str
) -> Iterator[Callable[[], Any]]:
    """Give what opens either sink on one table."""
    rows_in(database, CREATE.format("readings"))
    if request.param == "postgres":
        yield lambda: postgres_sink(spark, database)
        return
    with postgres_place(spark, database) as place:
        yield place.sink


def test_a_table_stays_in_one_zone(spark: Any, database: str, opened: Callable[[], Any]) -> None:
    """Another one is refused before the start and with a batch; two names of one zone are one."""
    batch = moments(spark)
    with zone(spark, "Etc/UTC"):
        sink = opened()
        sink.write(batch, identity(0))
        assert sink.write(batch, identity(1)).rows == len(MICROSECONDS)
    kept = f"select offsets_digest from {LEDGER} where query_id = '*'"
    assert rows_in(database, kept) == [("Etc/UTC",)]
    with zone(spark, "UTC"):
        again = opened()
        again.prepare(batch.schema, begun=True)
        assert not again.write(batch, identity(2)).skipped
    with zone(spark, BERLIN):
        other = opened()
        acts: tuple[Callable[[], object], ...] = (
            partial(other.prepare, batch.schema, begun=True),
            partial(other.write, batch, identity(3)),
        )
        for act in acts:
            with pytest.raises(
                SinkError, match=f"zone Etc/UTC; this session writes {BERLIN}"
            ) as caught:
                act()
            assert caught.value.code.number == "HF5048"
        assert rows_in(database, "select count(*) from readings") == [(3 * len(MICROSECONDS),)]
    with zone(spark, "Etc/UTC"):
        assert not opened().write(batch, identity(3)).skipped, "as the refusal says"
    with zone(spark, BERLIN):
        other.clear(generation=1)
        assert not opened().write(batch, identity(0, "new")).skipped
    assert rows_in(database, kept) == [(BERLIN,)]


def test_a_table_with_zones_needs_none(spark: Any, database: str) -> None:
    """Nothing is said, nothing is kept, and the zone of the JVM may change."""
    batch = moments(spark).drop("wall")
    sink = postgres_sink(spark, database)
    plain = sink.promise
    for number, name in enumerate(("UTC", BERLIN)):
        with zone(spark, name):
            sink.prepare(batch.schema, begun=bool(number))
            sink.write(batch, identity(number))
    assert sink.promise == plain
    assert rows_in(database, f"select * from {LEDGER} where query_id = '*'") == []
    counted = "select count(*) from (select distinct n, at from readings) moments"
    assert rows_in(database, counted) == [(len(MICROSECONDS),)]


def test_a_column_that_rounds_is_still_refused(spark: Any, database: str) -> None:
    """Fewer decimals of a second than Spark has."""
    rows_in(database, "create table readings (n bigint, at timestamp(3), wall timestamp)")
    batch = moments(spark)
    with postgres_place(spark, database) as place:
        for sink in (postgres_sink(spark, database), place.sink()):
            with pytest.raises(SinkError, match="at is timestamp") as caught:
                sink.prepare(batch.schema, begun=False)
            assert caught.value.code.number == "HF5005"


def test_zones_are_compared_by_what_they_do(spark: Any) -> None:
    """A name that Java does not know is another zone."""
    refuse_other_zone(spark, None, "UTC", "t")
    refuse_other_zone(spark, "Asia/Calcutta", "Asia/Kolkata", "t")
    refuse_other_zone(spark, "Mars/Olympus", "Mars/Olympus", "t")
    for kept in (BERLIN, "Mars/Olympus"):
        with pytest.raises(SinkError):
            refuse_other_zone(spark, kept, "UTC", "t")
    assert promised_in("once", ()) == "once"
