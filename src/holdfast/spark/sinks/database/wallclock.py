"""The time zone of moments in columns that have none: the one in which Spark's JDBC writer writes.

Spark hands a timestamp to a JDBC driver as a `java.sql.Timestamp`, and the driver writes what the
clock on the wall shows then in the default time zone of the JVM. `spark.sql.session.timeZone` is
that zone unless it is set; where it is set, Spark's writer does not look at it. Tables that Spark
made are full of such values, so they are written in the same zone, which is kept with the table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.errors import SinkError
from holdfast.spark.sinks.database.dialect import DatabaseConnection
from holdfast.spark.sinks.database.ledger import DatabaseLedger
from holdfast.spark.sinks.database.table import WrittenColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class TableZone:
    """The time zone in which one driver writes moments to one table, where columns have none."""

    def __init__(self, session: SparkSession | None, shown: str) -> None:
        self._session = session
        self._shown = shown
        self._kept: str | None = None

    def name(self) -> str:
        """Name the time zone in which Spark's JDBC writer writes moments without one."""
        return writing_zone(self._spark())

    def agree(self, columns: Sequence[WrittenColumn], kept: str | None) -> None:
        """Refuse another zone than the table has; `kept` is the one of the ledger."""
        zones = [one.zone for one in columns if one.zone is not None]
        if zones:
            refuse_other_zone(self._spark(), kept, zones[0], self._shown)

    def keep(
        self,
        connection: DatabaseConnection,
        ledger: DatabaseLedger,
        columns: Sequence[WrittenColumn],
    ) -> None:
        """Keep the zone with the table, unless another one is kept already, which is refused."""
        zone = next((one.zone for one in columns if one.zone is not None), None)
        if zone is not None and zone != self._kept:
            self.agree(columns, ledger.keep_zone(connection, zone))
            self._kept = zone

    def _spark(self) -> SparkSession:
        from pyspark.sql import SparkSession

        return self._session or SparkSession.active()


def writing_zone(session: SparkSession) -> str:
    """Name the time zone in which Spark's JDBC writer writes moments without one."""
    jvm: Any = session._jvm
    return str(jvm.java.util.TimeZone.getDefault().getID())


def refuse_other_zone(
    session: SparkSession, kept: str | None, zone: str, shown: str | None
) -> None:
    """Raise HF5048 where a table is kept in another time zone; two names of one zone are one."""
    if kept is None or kept == zone or _rules(session, kept) == _rules(session, zone):
        return
    message = f"{shown} has timestamps in the time zone {kept}; this session writes {zone}"
    raise SinkError("HF5048", message, at=shown)


def promised_in(promise: str, columns: Sequence[WrittenColumn]) -> str:
    """Add to a promise in which time zone moments are written, where the table has none."""
    zoned = [one for one in columns if one.zone is not None]
    if not zoned:
        return promise
    names = ", ".join(one.name for one in zoned)
    return (
        f"{promise}. Timestamps in {names} (timestamp without time zone) are written in the JVM's "
        f"time zone {zoned[0].zone}, as Spark's JDBC writer does"
    )


def _rules(session: SparkSession, zone: str) -> Any:
    jvm: Any = session._jvm
    try:
        return jvm.java.time.ZoneId.of(zone).getRules()
    except (PySparkException, Py4JError):
        # A name that this Java does not know is another zone than any that it does.
        return zone
