"""`inspect` against PySpark, against a plain listing, and by itself."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.checkpoint import build_checkpoint
from benchmarks.figures import BATCHES, HOLDFAST, PARTITIONS, Figure, Subject, Workshop, say
from benchmarks.measuring import Run, middle, run_cold

SCRIPT = Path(__file__).resolve().parent / "pyspark_inspect.py"


def measure(workshop: Workshop) -> list[Figure]:
    """Measure everything about `inspect`."""
    return [*_against_spark(workshop), *_history(workshop), *_quick(workshop)]


def _against_spark(workshop: Workshop) -> list[Figure]:
    root = workshop.large
    say("inspecting it, cold, seven times")
    ours = middle([_inspect(root) for _ in range(7)])
    say("asking PySpark, cold, three times")
    theirs = middle([run_cold([sys.executable, str(SCRIPT), str(root)]) for _ in range(3)])
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


def _history(workshop: Workshop) -> list[Figure]:
    """Ten times the history may cost the listing of the extra files, and no more."""
    long = workshop.large
    say("comparing a tenth of the history with the whole")
    short = build_checkpoint(
        workshop.folder / "short", batches=BATCHES // 10, partitions=PARTITIONS
    )
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


def _quick(workshop: Workshop) -> list[Figure]:
    say("measuring --help and inspect of an ordinary checkpoint")
    bare = middle([run_cold([sys.executable, "-c", "pass"]) for _ in range(9)])
    help_run = middle([run_cold([*HOLDFAST, "--help"]) for _ in range(9)])
    inspection = middle([_inspect(workshop.ordinary) for _ in range(9)])
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
            "within 0.15 s",
            inspection.processor_seconds <= 0.15,
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


SUBJECT = Subject(
    "Looking into a checkpoint",
    "Both sides of every comparison are measured in one run, and their answers compared first. The "
    "PySpark script is `benchmarks/pyspark_inspect.py`; the checkpoint is "
    f"{BATCHES:,} batches of offsets and commits and {PARTITIONS} partitions of state on a local "
    "disk. Times are medians of cold processes with a warm file cache.",
    measure,
)
