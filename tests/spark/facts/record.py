"""Records, for another Spark release, what plans say of queries and what these queries then write.

    python -m tests.spark.facts.record --environments DIR --spark 4.0.5 [--spark 4.1.4]

An environment `DIR/<version>` that is absent is created with pip. The records are in `releases`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.corpus.make import REPOSITORY, environment

RELEASES = Path(__file__).resolve().parent / "releases"
_NEEDED = ("click", "fsspec", "google-crc32c", "pydantic", "PyYAML", "rich")


def main() -> int:
    """Run every shape on each release; 0 where all could be compared."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--environments", type=Path, metavar="DIR")
    parser.add_argument("--spark", action="append", metavar="VERSION", default=[])
    parser.add_argument("--here", type=Path, metavar="FILE", help="run on the Spark of this Python")
    options = parser.parse_args()
    if options.here is not None:
        _record(options.here)
        return 0
    results = [_child(options.environments.resolve(), version) for version in options.spark]
    return max(results, default=0)


def _child(environments: Path, version: str) -> int:
    python = environment(environments, version)
    subprocess.run([python, "-m", "pip", "install", "--quiet", *_NEEDED], check=True)
    variables = {
        **os.environ,
        "PYTHONPATH": f"{REPOSITORY / 'src'}{os.pathsep}{REPOSITORY}",
        "PYSPARK_PYTHON": str(python),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "TZ": "UTC",
    }
    target = RELEASES / f"{version}.json"
    command = [str(python), "-m", "tests.spark.facts.record", "--here", str(target)]
    return subprocess.run(command, env=variables, check=False).returncode


def _record(target: Path) -> None:
    from pyspark.sql import SparkSession

    from tests.spark.facts.shapes import ENDING, SHAPES, planned_and_written, two_streams

    builder = SparkSession.builder.master("local[2]").config("spark.sql.shuffle.partitions", "2")
    for name, value in {**ENDING, "spark.ui.enabled": "false"}.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    shapes = {}
    with tempfile.TemporaryDirectory() as folder:
        streams = two_streams(spark, Path(folder))
        for name in SHAPES:
            planned, written = planned_and_written(name, streams, Path(folder) / name)
            shapes[name] = {"planned": planned, "written": written}
            print(f"{spark.version} {name}: {'equal' if planned == written else 'DIFFERS'}")
    target.parent.mkdir(exist_ok=True)
    document = {"spark": spark.version, "shapes": shapes}
    target.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    spark.stop()


if __name__ == "__main__":
    sys.exit(main())
