"""Describes every sink and mode under test: how it is declared and opened, who reads it plainly.

The suite of promises runs over all of them, and the crash audit over those that outlive a process.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from holdfast.jobs.ready import FunctionReference, ReadySink
from holdfast.spark.sinks.opening import open_sink
from holdfast.storage.location import parse_location
from tests.spark.sinks import plainreading as plain
from tests.spark.sinks.deliveries import AT, declared
from tests.spark.sinks.plainreading import TABLE, Place, ReadLedger, ReadRows

PATH = f"./lake/{TABLE}"
CODE = Path(__file__).parents[2] / "crashes" / "pipeline.py"


@dataclass(frozen=True, eq=False)
class Subject:
    """One sink in one mode."""

    family: str
    """The part of a crash point's name before the dot."""
    format: str
    mode: str
    reads: ReadRows
    ledger: ReadLedger
    whole_batches: bool
    """A plain reader sees the rows of a batch all at once, or none of them."""
    files_a_batch: int = 1
    """How often a point is passed that is passed once for every file."""
    more: Mapping[str, Any] = field(default_factory=dict)
    takes_back: frozenset[str] = frozenset()
    """`rewind`, `clear`: what it does; the rest it refuses."""
    beaten_at: str | None = "sink.before-commit"
    """Where another driver's commit can come between; None where there can't be another driver."""
    outlives: bool = True
    """What it holds is there after the process is gone."""
    variant: str = ""
    """Tells two databases behind one kind of sink apart."""
    jars: str | None = None
    """The Java libraries that a project has to bring itself."""

    @property
    def name(self) -> str:
        """What it is called in reports, such as `delta-append`."""
        return f"{self.format}{self.variant}-{self.mode}"

    @property
    def is_sibling(self) -> bool:
        """Another one runs the same code: what does not depend on the format is tried there."""
        return self.format in ("csv", "orc")

    @property
    def transform(self) -> str:
        """The function of the project that makes rows for this mode."""
        return {"append": "rows", "upsert": "latest", "complete": "counted"}[self.mode]

    @property
    def needs_database(self) -> bool:
        """It writes to a database."""
        return self.family in ("postgres", "jdbc")

    @property
    def kin(self) -> str:
        """What `make test` draws one sink of: databases, folders, and each of the others."""
        if self.needs_database:
            return "databases"
        return "folders" if self.family in ("delta", "files") else self.family

    def declared(self, place: Place) -> dict[str, Any]:
        """Give the sink as a project file has it."""
        sink: dict[str, Any] = {"format": self.format, "mode": self.mode, **self.more}
        if self.needs_database:
            url = place.jdbc_url if self.family == "jdbc" else place.database
            sink |= {"url": url, "table": TABLE}
        elif self.family in ("delta", "files"):
            sink["path"] = PATH
        if self.mode == "upsert":
            sink |= {"key": ["k"], "order_by": "n"}
        return sink

    def opened(self, session: Any, place: Place, **more: Any) -> Any:
        """Open it as a new process does; `more` replaces what is declared."""
        given = self.declared(place) | more
        if "path" in given:
            path = str(place.output)
            given |= {"path": path, "location": parse_location(path)}
        if "function" in given:
            shutil.copy(CODE, place.folder)
            module, _, name = given["function"].partition(":")
            given["function"] = FunctionReference(module, name, place.folder, AT)
        for several in ("key", "partition_by"):
            given[several] = tuple(given.get(several, ()))
        return open_sink(session, declared(place.folder, ReadySink(at=AT, **given)))


def _files(file_format: str, mode: str, reads: ReadRows, **more: Any) -> Subject:
    files = {"append": 3 if more.get("partition_by") else 2, "complete": 1}[mode]
    return Subject(
        "files",
        file_format,
        mode,
        reads,
        plain.manifest_ledger,
        whole_batches=False,
        files_a_batch=files,
        more=more,
        takes_back=frozenset(("rewind", "clear") if mode == "append" else ("clear",)),
    )


def _delta(mode: str) -> Subject:
    takes_back = frozenset(("clear",) if mode == "upsert" else ("rewind", "clear"))
    read = (plain.delta_rows, plain.delta_ledger)
    return Subject("delta", "delta", mode, *read, whole_batches=True, takes_back=takes_back)


def _database(family: str, mode: str, reads: ReadRows, ledger: ReadLedger, **more: Any) -> Subject:
    return Subject(
        family,
        family,
        mode,
        reads,
        ledger,
        whole_batches=True,
        more={"batch_column": "batch"} if mode == "append" else {},
        takes_back=frozenset(("rewind", "clear") if mode == "append" else ("clear",)),
        beaten_at=f"{family}.staged",
        **more,
    )


def _postgres(mode: str) -> Subject:
    return _database("postgres", mode, plain.postgres_rows, plain.postgres_ledger)


def _jdbc(mode: str) -> Subject:
    return _database("jdbc", mode, plain.postgres_rows, plain.postgres_ledger)


def _h2(mode: str) -> Subject:
    return _database("jdbc", mode, plain.h2_rows, plain.h2_ledger, variant=":h2", jars="h2")


def _memory(mode: str) -> Subject:
    return Subject(
        "memory",
        "memory",
        mode,
        plain.view_rows,
        plain.no_ledger,
        whole_batches=True,
        beaten_at=None,
        outlives=False,
    )


_MODES = ("append", "upsert", "complete")

SUBJECTS: tuple[Subject, ...] = (
    *map(_delta, _MODES),
    _files("parquet", "append", plain.parquet_rows, partition_by=["k"]),
    _files("csv", "append", plain.csv_rows, options={"header": "true"}),
    _files("json", "append", plain.json_rows),
    _files("orc", "append", plain.orc_rows),
    _files("parquet", "complete", plain.parquet_rows),
    *map(_postgres, _MODES),
    *map(_jdbc, _MODES),
    *map(_h2, _MODES),
    Subject(
        "custom",
        "custom",
        "append",
        plain.sqlite_rows,
        plain.function_ledger,
        whole_batches=True,
        more={"function": "pipeline:deliver"},
    ),
    *map(_memory, _MODES),
)

LASTING = tuple(subject for subject in SUBJECTS if subject.outlives)
"""What can be killed: memory keeps nothing that could outlive a process."""

SUBJECT_BY_NAME = {subject.name: subject for subject in SUBJECTS}
