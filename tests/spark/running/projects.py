"""Small projects that run on the shared Spark, and what their tables hold."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

PIPELINE = '''"""Transforms for tests."""

from pyspark.sql import functions as f


def same(source):
    return source


def evens(source):
    return source.where("n % 2 = 0")


def counted(source):
    return source.groupBy("k").agg(f.count("n").alias("count"), f.sum("n").alias("total"))


def broken(source):
    return source.select("nowhere")


def divided(source):
    return source.selectExpr("n", "k", "1 / (n - 3) as share")


def joined(left, right):
    return left.union(right)


def filled(source):
    text = "array_join(transform(sequence(1, 28), i -> sha2(concat(n, ':', i), 256)), '')"
    return source.selectExpr("n", "k", f"{text} as filling")
'''

ROWS = "n long, k string"


class Made:
    """A project in a folder of its own."""

    def __init__(self, folder: Path, jobs: dict[str, dict[str, Any]], **more: Any) -> None:
        self.folder = folder
        self.file = folder / "holdfast.yaml"
        self._moment = time.time_ns()
        self._number = 0
        folder.mkdir(parents=True, exist_ok=True)
        document = {
            "project": "test",
            "spark": {"master": "local[2]", "conf": {"spark.sql.shuffle.partitions": 2}},
            "jobs": jobs,
            **more,
        }
        self.file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
        (folder / "pipeline.py").write_text(PIPELINE, encoding="utf-8")

    def arrive(self, count: int, folder: str = "in") -> list[int]:
        """Let one file with the next numbers arrive, and give them."""
        numbers = list(range(self._number, self._number + count))
        self._number += count
        target = self.folder / folder
        target.mkdir(exist_ok=True)
        lines = [json.dumps({"n": number, "k": f"k{number % 3}"}) for number in numbers]
        arriving = target / f".{numbers[0]}"
        arriving.write_text("\n".join(lines), encoding="utf-8")
        # Spark takes files by their times, which two of one millisecond share.
        self._moment += 10_000_000
        os.utime(arriving, ns=(self._moment, self._moment))
        arriving.rename(target / f"{numbers[0]:06d}.json")
        return numbers

    def checkpoint(self, job: str) -> Path:
        """Give where a job's checkpoint is."""
        return self.folder / "checkpoints" / job

    def ids(self, job: str, log: str) -> list[int]:
        """Give the batches in `offsets` or `commits`."""
        return sorted(int(one.name) for one in (self.checkpoint(job) / log).glob("[0-9]*"))


def ingest(sink: str = "./lake/raw", **more: Any) -> dict[str, Any]:
    """Declare a job from JSON files into a Delta table."""
    return {
        "source": {
            "format": "json", "path": "./in", "schema": ROWS,
            "options": {"maxFilesPerTrigger": 1},
        },
        "transform": "pipeline:same",
        "sink": {"format": "delta", "path": sink},
        **more,
    }  # fmt: skip


def table(spark: Any, path: Path) -> Counter[Any]:
    """Give the rows of a Delta table, each with how often it is there."""
    rows = spark.read.format("delta").load(str(path)).collect()
    return Counter(tuple(row) for row in rows)


def expected(numbers: list[int]) -> Counter[Any]:
    """Give the rows that these numbers make, each once."""
    return Counter((number, f"k{number % 3}") for number in numbers)
