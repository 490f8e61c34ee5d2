"""What ends processes, and jars that are not there."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.diagnosis.explain.pages.provocations.provocation import provokes
from tests.diagnosis.explain.pages.provocations.queries import lines, run, texts


@provokes("heap-out-of-memory")
def heap_too_small(spark: Any, folder: Path) -> None:
    """The driver computes a constant of several gigabytes; its heap has one."""
    run(texts(spark, lines(folder)).selectExpr("size(sequence(1L, 400000000L)) as n"), folder)


@provokes("python-worker-died")
def python_worker_killed(spark: Any, folder: Path) -> None:
    from pyspark.sql.functions import udf

    @udf("string")
    def die(_value: str) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""

    run(texts(spark, lines(folder)).select(die("value")), folder)


@provokes("filesystem-class-missing")
def s3a_missing(spark: Any, folder: Path) -> None:
    run(spark.readStream.format("text").load("s3a://bucket/in"), folder)


@provokes("filesystem-class-missing")
def gs_missing(spark: Any, folder: Path) -> None:
    run(spark.readStream.format("text").load("gs://bucket/in"), folder)


@provokes("jdbc-driver-missing")
def no_suitable_driver(spark: Any, folder: Path) -> None:
    stream = spark.read.format("jdbc").option("url", "jdbc:postgresql://localhost/x")
    stream.option("dbtable", "t").load()


@provokes("address-in-use")
def port_taken(spark: Any, folder: Path) -> None:
    """Another Spark wants a port that this process has."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        builder = (
            "from pyspark.sql import SparkSession as S;"
            "b=S.builder.master('local[1]').config('spark.ui.enabled','false');"
            "b=b.config('spark.driver.bindAddress','127.0.0.1').config('spark.port.maxRetries','0');"
            f"b.config('spark.driver.port','{taken.getsockname()[1]}').getOrCreate()"
        )
        done = subprocess.run(
            [sys.executable, "-c", builder], capture_output=True, text=True, check=False
        )
    raise RuntimeError(done.stderr[done.stderr.find("java.net.") :])
