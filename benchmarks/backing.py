"""A backup with hashing and verification against `cp -r` and `sync`; and how long a plan takes."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.figures import HOLDFAST, Figure, Subject, Workshop, say
from benchmarks.measuring import run_cold

FILES, TOTAL_BYTES, ROUNDS = 20_000, 5_000_000_000, 3
SHARE = 0.8
PLAN_SECONDS = 1.0
_PARTITIONS = 100


def measure(workshop: Workshop) -> list[Figure]:
    """Measure the promised size, and plans of an ordinary checkpoint."""
    return [
        *compared(workshop.folder, FILES, TOTAL_BYTES, ROUNDS),
        _planned(workshop.ordinary),
    ]


def compared(folder: Path, files: int, total_bytes: int, rounds: int) -> list[Figure]:
    """Copy a checkpoint with state in many files both ways, in turns."""
    shown = f"{total_bytes / 1e9:.0f} GB in {files:,} files"
    say(f"writing a checkpoint of {shown}")
    checkpoint = filled(folder / "filled", files, total_bytes)
    ours, theirs, second = [], [], 0
    for turn in range(rounds):
        say(f"copying {shown} both ways, round {turn + 1} of {rounds}")
        shutil.rmtree(folder / ".holdfast", ignore_errors=True)
        subprocess.run(["sync"], check=True)
        ours.append(_seconds(*HOLDFAST, "backup", str(checkpoint), "--quiet"))
        told = run_cold([*HOLDFAST, "backup", str(checkpoint), "--json"])
        second = max(second, json.loads(told.output)["result"]["copied_bytes"])
        shutil.rmtree(folder / ".holdfast")
        target = folder / "copy"
        subprocess.run(["sync"], check=True)
        theirs.append(_seconds("sh", "-c", f"cp -r {checkpoint} {target} && sync"))
        shutil.rmtree(target)
    one, other = statistics.median(ours), statistics.median(theirs)
    shutil.rmtree(checkpoint)
    return [
        Figure(
            f"`holdfast backup` of {shown} against `cp -r` and `sync`",
            f"{other / one:.2f} times as fast ({one:.1f} s against {other:.1f} s)",
            f"at least {SHARE} times, with hashing",
            other / one >= SHARE,
        ),
        Figure(
            "the second backup of the same checkpoint copies",
            f"{second} bytes",
            "0 bytes",
            second == 0,
        ),
    ]


def filled(root: Path, files: int, total_bytes: int) -> Path:
    """Write a checkpoint whose state has so many files; no two have the same bytes."""
    size = total_bytes // files
    for name, content in {
        "metadata": '{"id":"95a1a9ce-063d-4c4a-8403-cceaa4b5f716"}',
        "offsets/0": 'v1\n{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{}}\n0',
        "commits/0": 'v1\n{"nextBatchWatermarkMs":0}',
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)
    for number in range(files):
        place = root / "state" / "0" / str(number % _PARTITIONS) / f"{number // _PARTITIONS + 1}"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.with_suffix(".delta").write_bytes(os.urandom(size))
    return root


def _planned(checkpoint: Path) -> Figure:
    words = [*HOLDFAST, "plan", "resume", str(checkpoint), "--quiet"]
    took = statistics.median(_seconds(*words) for _ in range(5))
    return Figure(
        "`holdfast plan resume` of an ordinary checkpoint, cold, without Spark",
        f"{took:.2f} s",
        f"under {PLAN_SECONDS:.0f} s",
        took < PLAN_SECONDS,
    )


def _seconds(*words: str) -> float:
    return run_cold(words).seconds


SUBJECT = Subject(
    "Backups and plans",
    f"A checkpoint of {TOTAL_BYTES / 1e9:.0f} GB in {FILES:,} state files of random bytes is "
    "copied by `holdfast backup` to an empty store next to it (every file hashed, flushed and "
    "read again), and by `cp -r` followed by `sync`, in turns, medians of three, the page cache "
    "warm.",
    measure,
)


if __name__ == "__main__":
    # A smaller one by hand: `python -m benchmarks.backing FILES GIGABYTES`.
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        for figure in compared(Path(name), int(sys.argv[1]), int(float(sys.argv[2]) * 1e9), 1):
            sys.stdout.write(f"{figure.what}: {figure.measured} ({figure.promised})\n")
