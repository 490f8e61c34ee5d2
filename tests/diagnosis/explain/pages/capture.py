"""Provokes errors of real Spark and keeps their traces, without anything of the machine.

`python -m tests.diagnosis.explain.pages.capture` with the Python of one Spark; `HOLDFAST_JARS` may
name the jars of Delta and Kafka, separated by commas, for the provocations that need them.
"""

from __future__ import annotations

import os
import re
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any

TRACES = Path(__file__).resolve().parent / "traces"
KEPT_FRAMES = 4
"""Frames that are kept below each exception; the rest tells nothing more."""


def capture(words: list[str]) -> None:
    """Run every provocation that fits this Spark, or those that are named."""
    import pyspark

    from tests.diagnosis.explain.pages.provocations import PROVOCATIONS

    jars = os.environ.get("HOLDFAST_JARS", "")
    wanted = [one for one in PROVOCATIONS if one.fits(pyspark.__version__, bool(jars))]
    spark = _session(jars)
    for provocation in wanted:
        name = f"{pyspark.__version__}-{provocation.name}"
        if words and provocation.name not in words:
            continue
        with tempfile.TemporaryDirectory() as folder:
            text = _provoked(provocation.provoke, spark, Path(folder))
        if text is None:
            print(f"{name}: no error", flush=True)
            continue
        place = TRACES / provocation.page
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{name}.txt").write_text(text, encoding="utf-8")
        print(f"{name}: {text.splitlines()[0][:110]}", flush=True)


def _session(jars: str) -> Any:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "2")
    builder = builder.config("spark.sql.warehouse.dir", tempfile.mkdtemp())
    # Snapshots are written by the maintenance thread; some provocations need them soon.
    builder = builder.config("spark.sql.streaming.stateStore.maintenanceInterval", "200ms")
    if jars:
        builder = builder.config("spark.jars", jars)
        builder = builder.config(
            "spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension"
        ).config(
            "spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog"
        )
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _provoked(provoke: Any, spark: Any, folder: Path) -> str | None:
    before = {key: spark.conf.get(key, None) for key in _RESTORED}
    try:
        provoke(spark, folder)
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what we came for)
        return clean(_text(error), folder)
    finally:
        for query in spark.streams.active:
            query.stop()
        for key, value in before.items():
            if value is None:
                spark.conf.unset(key)
            else:
                spark.conf.set(key, value)
    return None


_RESTORED = (
    "spark.sql.streaming.stateStore.providerClass",
    "spark.sql.streaming.queryEvolution.enableSourceEvolution",
    "spark.sql.streaming.stateStore.checkpointFormatVersion",
    "spark.sql.streaming.forceDeleteTempCheckpointLocation",
    "spark.sql.streaming.stopActiveRunOnRestart",
    "spark.sql.streaming.checkpointFileManagerClass",
    "spark.sql.shuffle.partitions",
)


def _text(error: Exception) -> str:
    """Give what a user would paste: the message, then the JVM's stack trace where there is one."""
    origin = getattr(error, "_origin", None) or getattr(error, "java_exception", None)
    head = f"{type(error).__module__}.{type(error).__name__}: {error}"
    if origin is None:
        return head
    from pyspark import SparkContext

    context: Any = SparkContext._active_spark_context
    jvm = context._jvm
    trace = jvm.org.apache.spark.util.Utils.exceptionString(origin)
    return f"{type(error).__module__}.{type(error).__name__}: {trace}"


def clean(text: str, folder: Path) -> str:
    """Reduce paths, hosts and long stacks; Spark's own words stay."""
    text = text.partition("\nJVM stacktrace:\n")[0]
    for found in (str(folder.resolve()), str(folder)):
        text = text.replace(found, "/data")
    text = text.replace(str(Path(sys.prefix).resolve()), "/opt/python")
    text = re.sub(rf"\b{re.escape(socket.gethostname())}\b", "worker", text)
    text = re.sub(r"/(?:tmp|var|home|work|opt/spark-envs)/[^\s:,)\]\"']*", "/data/else", text)
    text = re.sub(r"\b\d{1,3}(?:\.\d{1,3}){3}\b", "192.0.2.7", text)
    return "\n".join(_shortened(text.splitlines())).strip() + "\n"


def _shortened(all_lines: list[str]) -> list[str]:
    """Keep the first frames of each exception, and the first ones of streaming."""
    kept: list[str] = []
    frames = streaming = 0
    for line in all_lines:
        if not line.lstrip().startswith(("at ", "... ")):
            frames = streaming = 0
            kept.append(line.rstrip()[:1500])
            continue
        frames += 1
        streaming += ".streaming." in line
        if frames <= KEPT_FRAMES or (".streaming." in line and streaming <= KEPT_FRAMES):
            kept.append(line.rstrip()[:300])
    return kept[:120]


if __name__ == "__main__":
    capture(sys.argv[1:])
