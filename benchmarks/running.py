"""What a lease and a history cost a trivial stream, and what `holdfast run` adds to a start."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.figures import HOLDFAST, Figure, Subject, Workshop, say
from benchmarks.measuring import Run, middle, run_cold

SCRIPTS = Path(__file__).resolve().parent
BATCHES = 60
ROUNDS = 3
PROJECT = """project: bench
spark:
  master: local[2]
  conf: {spark.sql.shuffle.partitions: 2}
jobs:
  trivial:
    source: {format: json, path: ./in, schema: n long}
    sql: select * from source
    sink: {format: delta, path: ./lake/trivial}
"""


def measure(workshop: Workshop) -> list[Figure]:
    """Measure everything about running."""
    return [*_batches(workshop), *_starts(workshop)]


def _batches(workshop: Workshop) -> list[Figure]:
    say(f"streaming {BATCHES} trivial batches, {ROUNDS} times with and without Holdfast")
    script = [sys.executable, str(SCRIPTS / "trivial_stream.py")]
    folder = workshop.folder / "trivial"
    told = run_cold([*script, str(folder), str(BATCHES), str(ROUNDS)]).output
    measured = json.loads(told.splitlines()[-1])
    ours, theirs = measured["held_seconds"], measured["bare_seconds"]
    share, more = ours / theirs - 1, ours - theirs
    noise = abs(measured["bare_again_seconds"] / theirs - 1)
    return [
        Figure(
            "lease and history, of a trivial stream's time a batch",
            f"{share * 100:.1f} % more ({ours * 1000:.0f} ms against {theirs * 1000:.0f} ms a "
            f"batch; the bare stream against itself: {noise * 100:.1f} %)",
            "at most 5 %",
            share <= 0.05,
        ),
        Figure(
            "the same in seconds a batch",
            f"{more:.3f} s",
            "at most 0.1 s",
            more <= 0.1,
        ),
    ]


def _starts(workshop: Workshop) -> list[Figure]:
    """Start the same trivial job three ways, each in a cold process."""
    folder = workshop.folder / "start"
    (folder / "in").mkdir(parents=True)
    (folder / "in" / "0.json").write_text('{"n": 1}\n', encoding="utf-8")
    (folder / "holdfast.yaml").write_text(PROJECT, encoding="utf-8")
    script = [sys.executable, str(SCRIPTS / "bare_start.py")]
    say("starting a job with holdfast, with a bare script, and with --packages, three times each")
    ways = {
        "ours": [*HOLDFAST, "run", "--json", "--project", str(folder / "holdfast.yaml")],
        "jars": [*script, "jars", str(folder)],
        "packages": [*script, "packages", str(folder)],
    }
    # The first time libraries are fetched and the one batch is run; that is not counted.
    runs: dict[str, list[Run]] = {way: [] for way in ways}
    for _ in range(4):
        for way, command in ways.items():
            runs[way].append(run_cold(command))
    ours, jars, packages = (middle(runs[way][1:]).seconds for way in ways)
    return [
        Figure(
            "`holdfast run` of a job with nothing to do against a bare script with the same jars",
            f"{ours - jars:+.1f} s ({ours:.1f} s against {jars:.1f} s)",
            "at most 1 s more",
            ours - jars <= 1,
        ),
        Figure(
            "the same against a script with `spark.jars.packages`",
            f"{ours - packages:+.1f} s ({ours:.1f} s against {packages:.1f} s)",
            "less",
            ours < packages,
        ),
    ]


SUBJECT = Subject(
    "Running",
    "Both streams write the same rows to Spark's own `noop` in one session, in turns; the figure "
    "is the middle of all batches but the first ten of each. Starts are whole processes, from "
    "nothing to their end, medians of three.",
    measure,
)
