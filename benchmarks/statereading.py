"""`state` against PySpark's `statestore` source, cold and warm; one key; and memory."""

from __future__ import annotations

import json
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks.figures import HOLDFAST, Figure, Subject, Workshop, say
from benchmarks.measuring import Run, middle, run_cold

KEYS = 1_000_000
PROVIDERS = {"hdfs": "HDFS-backed", "rocksdb": "RocksDB"}
LEAST_WARM = {"hdfs": 1.0, "rocksdb": 0.5}
RUNS = 3
MEMORY_KEYS = (100_000, 1_000_000, 5_000_000)
KINDS = {"delta": "deltas", "changelog": "changelogs"}
BOUND_BYTES = 300e6
_TOTALS = """
import json, sys, pyarrow.dataset, pyarrow.compute as pc
table = pyarrow.dataset.dataset(sys.argv[1], format="parquet").to_table(columns=["value"])
columns = table.column("value").combine_chunks().flatten()
print(json.dumps([len(table), *(pc.sum(column).as_py() for column in columns)]))
"""


def measure(workshop: Workshop) -> list[Figure]:
    """Measure everything about reading state."""
    folder = workshop.folder / "state"
    folder.mkdir()
    say(f"letting Spark write the state of {KEYS:,} keys, and read it, warm")
    told = run_cold([*_module("spark_state"), str(folder), str(KEYS)]).output
    warm = json.loads(told.splitlines()[-1])
    figures = [
        figure for name in PROVIDERS for figure in _of_provider(folder / name, name, warm[name])
    ]
    return [*figures, *_memory(folder)]


def _of_provider(root: Path, name: str, warm: Sequence[float]) -> list[Figure]:
    say(f"reading {PROVIDERS[name]} state, cold, {RUNS} times both ways")
    output = root.with_suffix(".parquet")
    whole = [*HOLDFAST, "state", str(root), "--output", str(output), "--quiet"]
    by_spark = [*_module("pyspark_state"), str(root)]
    parquet = root.with_name(f"{root.name}-by-spark")
    all_rows = _faster(whole, [*by_spark, str(parquet)])
    assert _totals(output) == _totals(parquet)
    first_row = _faster([*HOLDFAST, "state", str(root), "--limit", "1", "--json"], by_spark)
    ours = _seconds(run_cold([*_module("warm_scan"), str(root)]))
    return [
        _ratio(f"{PROVIDERS[name]}: all rows to a Parquet file, cold", *all_rows, 5),
        _ratio(f"{PROVIDERS[name]}: to the first row, cold", *first_row, 20),
        _ratio(
            f"{PROVIDERS[name]}: the scan alone, warm",
            ours["whole"],
            statistics.median(warm),
            LEAST_WARM[name],
        ),
        _one_key(root, name, ours["partition"]),
    ]


def _one_key(root: Path, name: str, partition_seconds: float) -> Figure:
    key = f"key-{KEYS // 2:012d}"
    command = [*HOLDFAST, "state", str(root), "--key", key, "--json"]
    run = middle([run_cold(command) for _ in range(RUNS)])
    assert [row["key"] for row in json.loads(run.output)["result"]["rows"]] == [{"key": key}]
    return Figure(
        f"{PROVIDERS[name]}: one key, cold",
        f"{run.seconds:.2f} s",
        f"within 0.3 s and one partition's read ({partition_seconds:.2f} s)",
        run.seconds <= 0.3 + partition_seconds,
    )


def _memory(folder: Path) -> list[Figure]:
    return [_peaks(folder, suffix) for suffix in KINDS]


def _peaks(folder: Path, suffix: str) -> Figure:
    """Measure each size in a process of its own, which inherits nothing of this one."""
    peaks = []
    for keys in MEMORY_KEYS:
        say(f"reading {keys:,} keys of {KINDS[suffix]} without a snapshot")
        root = folder / f"{suffix}-{keys}"
        run_cold([*_module("statestore"), str(root), str(keys), suffix])
        output = root.with_suffix(".parquet")
        run = run_cold([*HOLDFAST, "state", str(root), "--output", str(output), "--quiet"])
        assert _totals(output)[0] == keys
        peaks.append(run.peak_bytes)
    sizes = ", ".join(f"{keys / 1e6:g}" for keys in MEMORY_KEYS)
    return Figure(
        f"memory at the peak, {sizes} million keys, only {KINDS[suffix]}",
        f"{', '.join(f'{peak / 1e6:.0f}' for peak in peaks)} MB",
        f"at most {BOUND_BYTES / 1e6:.0f} MB",
        max(peaks) <= BOUND_BYTES,
    )


def _faster(ours: Sequence[str], theirs: Sequence[str]) -> tuple[float, float]:
    """Run both in turns, and tell the middle seconds of each."""
    runs: tuple[list[Run], list[Run]] = ([], [])
    for _ in range(RUNS):
        for command, kept in zip((ours, theirs), runs, strict=True):
            kept.append(run_cold(command))
    return middle(runs[0]).seconds, middle(runs[1]).seconds


def _ratio(what: str, ours: float, theirs: float, least: float) -> Figure:
    ratio = theirs / ours
    measured = f"{ratio:.1f} times as fast ({ours:.2f} s against {theirs:.2f} s)"
    return Figure(what, measured, f"at least {least:g} times", ratio >= least)


def _seconds(run: Run) -> Mapping[str, float]:
    return {name: statistics.median(found) for name, found in json.loads(run.output).items()}


def _totals(output: Path) -> list[int]:
    totals: list[int] = json.loads(run_cold([sys.executable, "-c", _TOTALS, str(output)]).output)
    return totals


def _module(name: str) -> list[str]:
    return [sys.executable, "-m", f"benchmarks.{name}"]


SUBJECT = Subject(
    "Reading state",
    f"The state of {KEYS:,} text keys with a count, a sum and a maximum, in 4 batches and 4 "
    "partitions, written by Spark with its own settings in the same run: HDFS-backed deltas, or "
    "a RocksDB snapshot. Spark's side is `benchmarks/pyspark_state.py`, and for warm scans "
    "`benchmarks/spark_state.py`; both sides' rows are compared by their totals. Whole processes "
    "in turns, medians of three, with a warm file cache. Memory is measured on states in Spark's "
    "format that `benchmarks/statestore.py` writes: 10 batches, and no snapshot.",
    measure,
)
