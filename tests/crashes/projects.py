"""Makes the small project that is audited, and tells what its output has to be."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from tests.crashes.judging import Seen
from tests.parts.libraries import jars_for
from tests.spark.sinks.plainreading import Place, Rows
from tests.spark.sinks.subjects import Subject

JOB = "audited"
COLUMNS = {"append": ("n", "k"), "upsert": ("n", "k"), "complete": ("k", "number", "total")}
_FIRST_ARRIVAL = 1_700_000_000
_KEYS = ("k0", "k1", "k2")


@dataclass
class Audited:
    """A project with one job into the sink under audit."""

    subject: Subject
    place: Place
    master: str
    """The Spark that runs it again; kills run on one core, so that tasks come one by one."""
    batches: list[list[int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.place.folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(__file__).with_name("pipeline.py"), self.place.folder)

    @property
    def file(self) -> Path:
        """The project file."""
        return self.place.folder / "holdfast.yaml"

    def declare(self, master: str, *, job: str = JOB, source: str = "in") -> None:
        """Write the project file."""
        declared = {
            "source": {
                "format": "json", "path": f"./{source}", "schema": "n long, k string",
                "options": {"maxFilesPerTrigger": 1},
            },
            "transform": f"pipeline:{self.subject.transform}",
            "sink": self.subject.declared(self.place),
        }  # fmt: skip
        if self.subject.mode == "complete":
            declared["output_mode"] = "complete"
        conf = {"spark.sql.shuffle.partitions": 2}
        spark: dict[str, Any] = {"master": master, "conf": conf}
        if self.subject.jars is not None:
            spark["jars"] = [str(jar) for jar in jars_for(self.subject.jars)]
        document: dict[str, Any] = {
            "project": "audit",
            "spark": spark,
            "jobs": {job: declared},
        }
        self.file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")

    def arrive(self, count: int, source: str = "in") -> None:
        """Let the rows of one more batch arrive, with a time of their own: Spark sorts by it."""
        first = sum(map(len, self.batches))
        numbers = list(range(first, first + count))
        folder = self.place.folder / source
        folder.mkdir(exist_ok=True)
        lines = [json.dumps({"n": n, "k": _KEYS[n % len(_KEYS)]}) for n in numbers]
        path = folder / f"{len(self.batches):06d}.json"
        path.write_text("\n".join(lines), encoding="utf-8")
        moment = _FIRST_ARRIVAL + len(self.batches)
        os.utime(path, (moment, moment))
        self.batches.append(numbers)

    def seen(self, job: str = JOB) -> Seen:
        """Look at the output, the sink's memory and Spark's commits, plainly."""
        commits = (self.place.folder / "checkpoints" / job / "commits").glob("[0-9]*")
        return Seen(
            self.subject.reads(self.place, COLUMNS[self.subject.mode]),
            self.subject.ledger(self.place),
            sorted(int(path.name) for path in commits),
        )

    def state(self, batches: int) -> Rows:
        """Give the output after so many batches."""
        numbers = [number for batch in self.batches[:batches] for number in batch]
        rows = [(n, _KEYS[n % len(_KEYS)]) for n in numbers]
        if self.subject.mode == "append":
            return Counter(rows)
        if self.subject.mode == "upsert":
            newest = {k: n for n, k in rows}
            return Counter((n, k) for k, n in newest.items())
        by_key: dict[str, list[int]] = {}
        for n, k in rows:
            by_key.setdefault(k, []).append(n)
        return Counter((k, len(found), sum(found)) for k, found in by_key.items())
