"""Fetches the Java libraries for Delta and Kafka with the Ivy that pyspark ships."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pyspark

from tests.corpus.session import WORKSHOP

WANTED = Path(__file__).resolve().parent / "ivy.xml"
CONNECTED_VERSION = "4.2.0"
JARS = WORKSHOP / "libraries"

SETTINGS = """<ivysettings>
  <settings defaultResolver="central"/>
  <caches defaultCacheDir="{cache}"/>
  <resolvers><ibiblio name="central" m2compatible="true"{root}/></resolvers>
</ivysettings>
"""

DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "2",
}


def jars_for(purpose: str) -> list[Path]:
    """Returns the jars of `spark` or `broker`, fetching them the first time."""
    if not (JARS / purpose).is_dir():
        fetch()
    return sorted((JARS / purpose).glob("*.jar"))


def fetch() -> None:
    """Runs Ivy; HOLDFAST_MAVEN may name a mirror of the central repository."""
    JARS.mkdir(parents=True, exist_ok=True)
    mirror = os.environ.get("HOLDFAST_MAVEN")
    root = f' root="{mirror}"' if mirror else ""
    settings = JARS / "ivysettings.xml"
    settings.write_text(SETTINGS.format(cache=JARS / "cache", root=root), encoding="utf-8")
    ivy = next((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))
    command = ["java", "-jar", str(ivy), "-settings", str(settings), "-ivy", str(WANTED)]
    pattern = f"{JARS}/[conf]/[artifact]-[revision].[ext]"
    command += ["-confs", "spark", "broker", "-retrieve", pattern]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
