"""Fetches the Java libraries that real parts need, with the Ivy that pyspark ships."""

from __future__ import annotations

import os
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import pyspark

WANTED = Path(__file__).resolve().parent / "ivy.xml"
CONNECTED_VERSION = "4.2.0"
JARS = Path(tempfile.gettempdir()) / "holdfast-parts"

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
    """Give the jars of `spark`, `broker`, `h2` or `s3`, fetching them the first time."""
    if not (JARS / purpose).is_dir():
        fetch(purpose)
    return sorted((JARS / purpose).glob("*.jar"))


def fetch(purpose: str) -> None:
    """Run Ivy, and show its jars only when all are there; HOLDFAST_MAVEN may name a mirror."""
    JARS.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=JARS) as here:
        mirror = os.environ.get("HOLDFAST_MAVEN")
        root = f' root="{mirror}"' if mirror else ""
        settings = Path(here) / "ivysettings.xml"
        settings.write_text(SETTINGS.format(cache=f"{here}/cache", root=root), encoding="utf-8")
        ivy = next((Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar"))
        command = ["java", "-jar", str(ivy), "-settings", str(settings), "-ivy", str(WANTED)]
        command += ["-confs", purpose, "-retrieve", f"{here}/jars/[artifact]-[revision].[ext]"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        # Two test runs may fetch at once; the jars of the first are as good as ours.
        with suppress(OSError):
            Path(here, "jars").rename(JARS / purpose)
