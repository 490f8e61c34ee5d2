"""`doctor` on an ordinary checkpoint, on a long history, and over an object store that is slow."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.figures import BATCHES, HOLDFAST, PARTITIONS, Figure, Subject, Workshop, say
from benchmarks.measuring import Run, middle, run_cold
from benchmarks.slowstorage import BUCKET, DELAY_SECONDS, slow_storage

OF_THE_PLACE = {"HF2302", "HF2320", "HF2337"}
"""Findings about a folder among temporary files, about state that was not read for its time, and
about object stores."""


def measure(workshop: Workshop) -> list[Figure]:
    """Measure everything about `doctor`."""
    return [*_local(workshop), *_remote(workshop)]


def _local(workshop: Workshop) -> list[Figure]:
    large, ordinary = workshop.large, workshop.ordinary
    say("examining an ordinary checkpoint, cold, nine times")
    quick = middle([_doctor(ordinary) for _ in range(9)])
    say("examining the large one, cold, five times")
    long = middle([_doctor(large) for _ in range(5)])
    inspection = middle([run_cold([*HOLDFAST, "inspect", str(large), "--json"]) for _ in range(5)])
    ratio = long.processor_seconds / inspection.processor_seconds
    return [
        _within("`holdfast doctor` on an ordinary checkpoint", quick, 1),
        _within(f"on {BATCHES:,} batches and {PARTITIONS} partitions", long, 5),
        Figure(
            "all checks of the doctor against `inspect` of the same checkpoint",
            f"{ratio:.1f} times ({long.processor_seconds:.2f} s against "
            f"{inspection.processor_seconds:.2f} s of processor time)",
            "at most 4 times",
            ratio <= 4,
        ),
    ]


def _remote(workshop: Workshop) -> list[Figure]:
    root = workshop.large
    say("filling an S3 server with the large checkpoint")
    with slow_storage(root.parent) as storage:
        say("examining it there, cold, three times")
        command = [*HOLDFAST, "doctor", f"s3a://{BUCKET}/{root.name}", "--json", *storage.options]
        storage.calls()
        runs = [run_cold(command, storage.environment) for _ in range(3)]
        calls = storage.calls() / len(runs)
    run = middle(runs)
    _compare_findings(_doctor(root), run)
    objects = sum(1 for path in root.rglob("*") if path.is_file() and path.suffix != ".crc")
    return [
        Figure(
            f"the same over S3 with {DELAY_SECONDS * 1000:.0f} ms added to every call",
            f"{run.seconds:.1f} s ({run.processor_seconds:.1f} s of processor time), "
            f"{calls:.0f} calls for {objects:,} objects",
            "within 15 s",
            run.seconds <= 15,
        )
    ]


def _compare_findings(local: Run, remote: Run) -> None:
    """What is found must not depend on the storage, but for what is said of the place itself."""
    here, there = (
        {finding["code"] for finding in json.loads(run.output)["findings"]}
        for run in (local, remote)
    )
    assert here ^ there <= OF_THE_PLACE


def _doctor(root: Path) -> Run:
    return run_cold([*HOLDFAST, "doctor", str(root), "--json"])


def _within(what: str, run: Run, seconds: int) -> Figure:
    measured = f"{run.seconds:.2f} s ({run.processor_seconds:.2f} s of processor time)"
    return Figure(what, measured, f"within {seconds} s", run.seconds <= seconds)


SUBJECT = Subject(
    "Examining a checkpoint",
    "Seconds that somebody waits, medians of cold processes with a warm file cache, and the large "
    "checkpoint from above. The S3 server is moto in a process of its own on the same machine; it "
    "waits before it answers, and counts what it is asked.",
    measure,
)
