"""A project with a real checkpoint, and an output that no Spark is needed for."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

import holdfast
from holdfast.errors import SinkError
from holdfast.ledgers.sinkstate import LastCommitted
from holdfast.remedy.plan import Plan
from holdfast.remedy.results import Applied
from tests.backup.folders import extracted

JOB = "ingest"
READER = {
    "source": {"format": "delta", "path": "./lake/raw"},
    "sql": "select * from source",
    "sink": {"format": "delta", "path": "./lake/gold"},
}


@dataclass
class Output:
    """A sink in a file: its rows, its newest batch, and who cleared it last."""

    file: Path
    kind: str = "delta"
    identity: str | None = "raw"
    refuses: bool = False
    gives_back: bool = True
    asked: list[str] = field(default_factory=list)

    @property
    def state(self) -> dict[str, Any]:
        """What is in it."""
        found: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8"))
        return found

    def put(self, **state: Any) -> None:
        """Write what is in it."""
        self.file.write_text(json.dumps(state), encoding="utf-8")

    def last_committed(self, _query_id: str) -> LastCommitted:
        """Return the newest batch."""
        batch = self.state["batch"]
        if batch is None:
            return LastCommitted.nothing("it is empty")
        return LastCommitted.batch(batch, "read from it")

    def queries(self) -> frozenset[str]:
        """Name no query but the one that asks."""
        return frozenset()

    def clear(self, *, generation: int, queries: Collection[str] | None = None) -> None:
        """Remove everything, or refuse."""
        if self.refuses:
            raise SinkError("HF5011", "the table has rows of another writer")
        self.put(rows=[], batch=None, generation=generation)

    def rewind(self, _query_id: str, batch_id: int, *, generation: int) -> None:
        """Leave a fence."""
        self.put(**self.state | {"batch": batch_id, "generation": generation})


class GivingOutput(Output):
    """One that brings back what was cleared."""

    def mark(self) -> Mapping[str, Any]:
        """Return everything."""
        return self.state

    def why_not_back(self, mark: Mapping[str, Any]) -> str | None:
        """Return why not: somebody wrote since."""
        return None if self.state["rows"] in ([], mark["rows"]) else "it was written since"

    def give_back(self, mark: Mapping[str, Any], *, generation: int) -> None:
        """Write it again."""
        self.put(**{**mark, "generation": generation})


@dataclass
class Project:
    """A project whose job has delivered batches to an output."""

    folder: Path
    output: Output
    others: dict[str, Output] = field(default_factory=dict)
    """The outputs of other jobs."""

    @property
    def file(self) -> Path:
        """The project file."""
        return self.folder / "holdfast.yaml"

    @property
    def checkpoint(self) -> Path:
        """The job's checkpoint."""
        return self.folder / "checkpoints" / JOB

    def add_reader(self, job: str) -> Path:
        """Add a job that reads the output, with a checkpoint; return where that is."""
        checkpoint = self.checkpoint.parent / job
        extracted(self.folder / "another", "aggregation-complete").rename(checkpoint)
        self.others[job] = GivingOutput(self.folder / f"{job}.json")
        self.others[job].put(rows=[7], batch=4, generation=1)
        self.declare()
        return checkpoint

    def declare(self, **job: Any) -> None:
        """Declare the job, with these keys in place of others."""
        declared = {
            "source": {"format": "json", "path": "./in", "schema": "id long"},
            "sql": "select * from source",
            "sink": {"format": "delta", "path": "./lake/raw"},
            **job,
        }
        jobs = {JOB: declared} | dict.fromkeys(self.others, READER)
        document = {"project": "test", "jobs": jobs}
        self.file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")

    def plan(self, remedy: str = "reset", **options: Any) -> Plan:
        """Return a plan; a reset clears the output where nothing else is said."""
        given = {"output": "clear", **options} if remedy == "reset" else options
        return holdfast.plan(JOB, remedy, given, project=self.file).result

    def apply(self, plan: Plan) -> Applied:
        """Apply a plan."""
        return holdfast.apply(plan, project=self.file, even_if_running=True).result

    def finish(self) -> Applied:
        """Finish what was interrupted."""
        return holdfast.finish_plan(JOB, project=self.file).result

    def undo(self) -> Applied:
        """Take the newest act back."""
        return holdfast.undo(JOB, project=self.file).result


def made(
    folder: Path, patch: pytest.MonkeyPatch, sample: str = "stateless", *, gives_back: bool = True
) -> Project:
    """Make a project whose job has a real checkpoint, and an output with its newest batch."""
    kind = GivingOutput if gives_back else Output
    project = Project(folder, kind(folder / "output.json"))
    project.output.put(rows=[1, 2, 3], batch=4, generation=1)
    project.checkpoint.parent.mkdir(parents=True)
    extracted(folder / "real", sample).rename(project.checkpoint)
    project.declare()

    @contextmanager
    def opened(found: Any, _planned: Any = None, **_: Any) -> Iterator[Output]:
        yield project.others.get(found.job, project.output)

    patch.setattr("holdfast.library.remedies.opened_sink", opened)
    return project
