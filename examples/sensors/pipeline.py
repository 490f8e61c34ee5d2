"""The transforms of the sensor pipeline: rows of a source in, rows of a sink out."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as f

READING = "sensor_id string, read_at timestamp, value double, _corrupt_record string"
LATENESS = "2 days"
"""How late a reading may come and still count in its hour."""


def raw(source: DataFrame) -> DataFrame:
    """Keep every line as it came, with the name of its file."""
    return source.select(
        f.col("value").alias("line"),
        f.col("_metadata.file_name").alias("file"),
    )


def readings(source: DataFrame) -> DataFrame:
    """Give the lines that are readings, typed."""
    kept = _parsed(source).where(_fault().isNull())
    return kept.select("reading.sensor_id", "reading.read_at", "reading.value", "file")


def quarantined(source: DataFrame) -> DataFrame:
    """Give the lines that are no readings, each with the reason."""
    return (
        _parsed(source).select("line", "file", _fault().alias("reason")).where("reason is not null")
    )


def hourly(source: DataFrame) -> DataFrame:
    """Sum up every hour of every sensor."""
    hour = f.window("read_at", "1 hour")
    grouped = source.withWatermark("read_at", LATENESS).groupBy("sensor_id", hour)
    return grouped.agg(
        f.count("value").alias("readings"),
        f.min("value").alias("lowest"),
        f.max("value").alias("highest"),
        f.sum("value").alias("total"),
    ).select(
        "sensor_id", f.col("window.start").alias("hour"), "readings", "lowest", "highest", "total"
    )


def _parsed(source: DataFrame) -> DataFrame:
    return source.withColumn("reading", f.from_json("line", READING))


def _fault() -> Column:
    """Say what is wrong with a parsed line; null where it is a reading."""
    reading = f.col("reading")
    return (
        f.when(reading.isNull() | reading["_corrupt_record"].isNotNull(), "not JSON")
        .when(reading["sensor_id"].isNull(), "no sensor_id")
        .when(reading["read_at"].isNull(), "no read_at")
        .when(reading["value"].isNull(), "no value")
    )
