"""Starts the one local Spark session in which all shapes of a version run."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from pyspark.sql import SparkSession

WORKSHOP = Path("/tmp/holdfast-corpus")

NOTHING: Mapping[str, str] = MappingProxyType({})
SETTINGS = {
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.local.dir": str(WORKSHOP / "local"),
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "2",
    # One maintenance thread serves the whole process, so its interval can't differ by shape.
    "spark.sql.streaming.stateStore.maintenanceInterval": "500ms",
    "spark.sql.warehouse.dir": str(WORKSHOP / "warehouse"),
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def start_session(extra: Mapping[str, str] = NOTHING) -> SparkSession:
    """Returns a session on two local cores, bound to the loopback address."""
    builder = SparkSession.builder.master("local[2]").appName("corpus")
    for key, value in {**SETTINGS, **extra}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark
