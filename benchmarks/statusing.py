"""`status` of a project of a hundred jobs, each with a checkpoint and a history."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks.figures import HOLDFAST, Figure, Subject, Workshop, say
from benchmarks.measuring import middle, run_cold
from holdfast.records.folder import records_of
from holdfast.records.history import History
from holdfast.records.run import Ended, Run, Versions
from holdfast.storage.location import parse_location
from holdfast.storage.options import StorageSettings

JOBS, RUNS = 100, 20


def measure(workshop: Workshop) -> list[Figure]:
    """Measure `status`."""
    say(f"making a project of {JOBS} jobs with {RUNS} runs each")
    file = _project(workshop.folder / "hundred", workshop.ordinary)
    say("asking for its status, cold, seven times")
    run = middle([run_cold([*HOLDFAST, "status", "--project", str(file)]) for _ in range(7)])
    told = f"{run.seconds:.2f} s ({run.processor_seconds:.2f} s of processor time)"
    return [Figure(f"`holdfast status` of {JOBS} jobs", told, "within 1 s", run.seconds <= 1)]


def _project(folder: Path, ordinary: Path) -> Path:
    names = [f"job-{number:03d}" for number in range(JOBS)]
    jobs = "".join(
        f"  {name}:\n"
        f"    source: {{format: json, path: ./in/{name}, schema: n long}}\n"
        f"    sql: select * from source\n"
        f"    sink: {{format: delta, path: ./lake/{name}}}\n"
        for name in names
    )
    for name in names:
        checkpoint = folder / "checkpoints" / name
        shutil.copytree(ordinary, checkpoint)
        history = History(records_of(parse_location(str(checkpoint)), StorageSettings()))
        for generation in range(1, RUNS + 1):
            history.write(_run(name, generation))
    file = folder / "holdfast.yaml"
    file.write_text(f"project: hundred\njobs:\n{jobs}", encoding="utf-8")
    return file


def _run(job: str, generation: int) -> Run:
    moment = "2026-11-16T05:00:00.000Z"
    return Run(
        job=job,
        project="hundred",
        checkpoint=job,
        generation=generation,
        versions=Versions("0.1.0", "4.2.0", "17", "3.11"),
        started_at=moment,
        ended_at=moment,
        ended=Ended.FINISHED,
        batches=3,
        rows=300,
    )


SUBJECT = Subject(
    "Status",
    "The checkpoints are copies of an ordinary one; nothing was read before by the process.",
    measure,
)
