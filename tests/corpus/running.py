"""Runs the shapes of the installed Spark version in one session and packs each of them."""

from __future__ import annotations

import argparse
import shutil
import sys
import time
import traceback
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

from tests.corpus.bench import Bench
from tests.corpus.facts import collect_facts
from tests.corpus.pack import pack
from tests.corpus.session import WORKSHOP, start_session
from tests.corpus.shapes import SHAPES
from tests.corpus.shapes.shape import Shape
from tests.parts.libraries import CONNECTED_VERSION, DELTA, jars_for

ARCHIVES = Path(__file__).resolve().parent / "checkpoints"


def main() -> int:
    """Returns 0 when every wanted shape was packed, 1 when one of them failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", required=True)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--missing", action="store_true")
    arguments = parser.parse_args()
    folder = ARCHIVES / pyspark.__version__
    wanted = [shape for shape in SHAPES if pyspark.__version__ in shape.versions]
    if arguments.only:
        wanted = [shape for shape in wanted if shape.name in arguments.only]
    if arguments.missing:
        wanted = [shape for shape in wanted if not (folder / f"{shape.name}.zip").exists()]
    if not wanted:
        return 0
    WORKSHOP.mkdir(exist_ok=True)
    spark = session_for(pyspark.__version__)
    made = [make(spark, shape, arguments.host) for shape in wanted]
    spark.stop()
    return 0 if all(made) else 1


def session_for(version: str) -> SparkSession:
    """Returns the session; one version has Delta and Kafka in it."""
    if version != CONNECTED_VERSION:
        return start_session()
    return start_session({**DELTA, "spark.jars": ",".join(str(jar) for jar in jars_for("spark"))})


def make(spark: SparkSession, shape: Shape, host: str) -> bool:
    """Runs and packs one shape; a failure is printed, so that the others still get their turn."""
    started = time.monotonic()
    folder = WORKSHOP / shape.name
    shutil.rmtree(folder, ignore_errors=True)
    bench = Bench(spark, folder, folder / "checkpoint", ARCHIVES)
    try:
        bench.set(dict(shape.settings))
        shape.run(bench)
        facts = collect_facts(bench, shape)
        archive = ARCHIVES / spark.version / f"{shape.name}.zip"
        size = pack(bench.checkpoint, bench.output, archive, facts, host)
    except Exception:  # noqa: BLE001 - whatever a shape raises must not stop the others
        traceback.print_exc()
        print(f"{spark.version} {shape.name}: FAILED", flush=True)
        return False
    finally:
        for query in spark.streams.active:
            query.stop()
        for key in bench.settings:
            spark.conf.unset(key)
    seconds = time.monotonic() - started
    print(f"{spark.version} {shape.name}: {size} bytes, {seconds:.1f} s", flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
