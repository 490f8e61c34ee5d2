"""Keeps an archive of the classes that Spark loads, so that a JVM of a test starts quicker.

It is made once for a Java and a Spark, by a small run that ends in peace. A JVM that it does not
fit starts without it.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

import pyspark

from tests.parts.javaoptions import QUICK, ROOM, VARIABLE
from tests.parts.libraries import JARS

__all__ = ["VARIABLE", "lasting_java", "quick_environment", "quick_java"]

_RUN = """
from pyspark.sql import SparkSession
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false") \\
    .config("spark.sql.shuffle.partitions", "2").getOrCreate()
folder = {folder!r}
spark.range(9).selectExpr("id as n", "cast(id as string) as k").write.json(folder + "/in")
rows = spark.readStream.schema("n long, k string").json(folder + "/in")
keep = lambda batch, _: batch.write.mode("append").parquet(folder + "/out")
for name, frame in (("plain", rows.repartition(2, "k")), ("counted", rows.groupBy("k").count())):
    writer = frame.writeStream.foreachBatch(keep).outputMode("update").trigger(availableNow=True)
    writer.option("checkpointLocation", folder + "/" + name).start().awaitTermination()
spark.stop()
gateway = spark.sparkContext._gateway
gateway.shutdown()
gateway.proc.stdin.close()
gateway.proc.wait()
"""


@cache
def quick_java() -> str:
    """Give the options with which a JVM of a test starts; the archive is made where it is missing.

    A JVM tells on its standard output why an archive does not fit, where results belong.
    """
    archive = JARS / f"classes-{_key()}.jsa"
    if not archive.exists():
        _make(archive)
    return f"{QUICK} -XX:SharedArchiveFile={archive} -Xshare:auto -Xlog:disable"


def lasting_java() -> str:
    """Give the options of a JVM that serves many tests."""
    return f"{quick_java()} {ROOM}"


def quick_environment() -> dict[str, str]:
    """Give the variables of a process that starts a JVM of its own."""
    return {**os.environ, VARIABLE: quick_java()}


def _make(archive: Path) -> None:
    JARS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=JARS) as folder:
        making = Path(folder) / "made.jsa"
        options = f"{QUICK} -XX:ArchiveClassesAtExit={making} -Xlog:disable"
        subprocess.run(
            [sys.executable, "-c", _RUN.format(folder=folder)],
            # A test may just pretend that spark-submit started its process.
            env={k: v for k, v in os.environ.items() if "GATEWAY" not in k} | {VARIABLE: options},
            check=True,
            capture_output=True,
        )
        # Two test runs may make it at once; the first is as good as ours.
        with suppress(OSError):
            making.rename(archive)


def _key() -> str:
    told = subprocess.run(["java", "-version"], check=True, capture_output=True).stderr
    return hashlib.sha256(told + pyspark.__file__.encode() + QUICK.encode()).hexdigest()[:12]
