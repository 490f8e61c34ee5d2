"""`make bench`: measures the ratios in one run and writes docs/benchmarks.md."""

from __future__ import annotations

import json
import platform
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.checkpoint import build_checkpoint
from benchmarks.measuring import Run, middle, run_cold
from tests.corpus.loading import sample

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
BATCHES, PARTITIONS = 10_000, 200
HOLDFAST = [str(Path(sys.executable).with_name("holdfast"))]


@dataclass(frozen=True)
class Figure:
    """One promise and what was measured."""

    what: str
    measured: str
    promised: str
    kept: bool


def main() -> int:
    """Measure everything, write the page, and say which promises were kept."""
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        figures = [*_against_spark(folder), *_history(folder), *_quick(folder)]
    finally:
        shutil.rmtree(folder)
    PAGE.write_text(_page(figures), encoding="utf-8")
    for figure in figures:
        mark = "kept  " if figure.kept else "BROKEN"
        sys.stdout.write(f"{mark} {figure.what}: {figure.measured} ({figure.promised})\n")
    return 0 if all(figure.kept for figure in figures) else 1


def _against_spark(folder: Path) -> list[Figure]:
    _say(f"building a checkpoint of {BATCHES:,} batches and {PARTITIONS} partitions")
    root = build_checkpoint(folder / "large", batches=BATCHES, partitions=PARTITIONS)
    _say("inspecting it, cold, seven times")
    ours = middle([_inspect(root) for _ in range(7)])
    _say("asking PySpark, cold, three times")
    script = [sys.executable, str(ROOT / "benchmarks" / "pyspark_inspect.py"), str(root)]
    theirs = middle([run_cold(script) for _ in range(3)])
    _compare_answers(json.loads(theirs.output), json.loads(ours.output)["result"])
    ratio = theirs.seconds / ours.seconds
    return [
        Figure(
            "`holdfast inspect` against a cold PySpark script that reads the same",
            f"{ratio:.0f} times faster ({ours.seconds:.2f} s against {theirs.seconds:.1f} s)",
            "at least 30 times",
            ratio >= 30,
        ),
        Figure(
            "its memory at the peak",
            f"{ours.peak_bytes / 1e6:.0f} MB",
            "under 150 MB",
            ours.peak_bytes < 150e6,
        ),
    ]


def _history(folder: Path) -> list[Figure]:
    """Ten times the history may cost the listing of the extra files, and no more."""
    _say("comparing a tenth of the history with the whole")
    short = build_checkpoint(folder / "short", batches=BATCHES // 10, partitions=PARTITIONS)
    long = folder / "large"
    runs = {root: middle([_inspect(root) for _ in range(5)]) for root in (short, long)}
    lists = {root: middle([_list(root) for _ in range(5)]) for root in (short, long)}
    extra = runs[long].processor_seconds - runs[short].processor_seconds
    listing = lists[long].processor_seconds - lists[short].processor_seconds
    ratio = extra / listing
    return [
        Figure(
            "what ten times the history costs, against listing and sorting the extra names",
            f"{ratio:.1f} times ({extra:.2f} s against {listing:.2f} s of processor time)",
            "at most 1.5 times",
            ratio <= 1.5,
        )
    ]


def _quick(folder: Path) -> list[Figure]:
    _say("measuring --help and an ordinary checkpoint")
    ordinary = sample("aggregation-hdfs-lz4", "4.2.1").extract(folder / "ordinary")
    bare = middle([run_cold([sys.executable, "-c", "pass"]) for _ in range(9)])
    help_run = middle([run_cold([*HOLDFAST, "--help"]) for _ in range(9)])
    inspection = middle([_inspect(ordinary) for _ in range(9)])
    return [
        Figure(
            "`holdfast --help`, processor time (an empty Python takes "
            f"{bare.processor_seconds:.2f} s)",
            f"{help_run.processor_seconds:.2f} s",
            "within 0.2 s",
            help_run.processor_seconds <= 0.2,
        ),
        Figure(
            "`holdfast inspect` of an ordinary checkpoint, processor time",
            f"{inspection.processor_seconds:.2f} s",
            "within 0.5 s",
            inspection.processor_seconds <= 0.5,
        ),
    ]


def _inspect(root: Path) -> Run:
    return run_cold([*HOLDFAST, "inspect", str(root), "--json"])


def _list(root: Path) -> Run:
    program = (
        "import sys; from holdfast.storage.local import LocalReader; "
        "from holdfast.checkpoint.layout import lay_out; "
        "lay_out(LocalReader(sys.argv[1], sys.argv[1]).list().items)"
    )
    return run_cold([sys.executable, "-c", program, str(root)])


def _compare_answers(theirs: dict[str, object], ours: dict[str, object]) -> None:
    """Both must say the same, or the comparison means nothing."""
    batches, sources, operators = ours["batches"], ours["sources"], ours["operators"]
    assert isinstance(batches, dict)
    assert isinstance(sources, list)
    assert isinstance(operators, list)
    for name in ("first_kept", "last_planned", "last_committed", "pending"):
        assert batches[name] == theirs[name], name
    assert sources[0]["offset"] == theirs["offset"]
    assert ours["settings"] == theirs["settings"]
    timeline = ours["timeline"]
    assert isinstance(timeline, list)
    fields = ("id", "timestamp_ms", "watermark_ms", "committed")
    assert [[batch[name] for name in fields] for batch in timeline] == theirs["timeline"]
    known = [[one["id"], one["name"], one["partitions"]] for one in operators]
    assert known == theirs["operators"]


def _page(figures: list[Figure]) -> str:
    rows = "\n".join(
        f"| {one.what} | {one.measured} | {one.promised} | {'yes' if one.kept else '**no**'} |"
        for one in figures
    )
    return f"""# Benchmarks

Written by `make bench`, which measures both sides of every comparison in one run and compares
their answers first. The PySpark script is `benchmarks/pyspark_inspect.py`; the checkpoint is
{BATCHES:,} batches of offsets and commits and {PARTITIONS} partitions of state on a local disk.
Times are medians of cold processes with a warm file cache.

| what | measured | promised | kept |
|---|---|---|---|
{rows}

Measured with Python {platform.python_version()} on {platform.system()}, two cores.
"""


def _say(text: str) -> None:
    sys.stderr.write(f"… {text}\n")


if __name__ == "__main__":
    sys.exit(main())
