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

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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


def promised_in(promise: str, columns: Sequence[str], zone: str | None) -> str:
    """Add to a promise in which time zone moments are written, where the table has none."""
    if zone is None:
        return promise
    names = ", ".join(columns)
    return (
        f"{promise}; timestamps in {names} (timestamp without time zone) are written in the JVM's "
        f"time zone {zone}, as Spark's JDBC writer does"
    )


def _rules(session: SparkSession, zone: str) -> Any:
    jvm: Any = session._jvm
    try:
        return jvm.java.time.ZoneId.of(zone).getRules()
    except (PySparkException, Py4JError):
        # A name that this Java does not know is another zone than any that it does.
        return zone
