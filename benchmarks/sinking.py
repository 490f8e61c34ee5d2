"""How quick our sinks are beside Spark's own, though only ours know a batch when it comes again."""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path

from benchmarks.figures import Figure, Subject, Workshop, say
from benchmarks.measuring import run_cold
from benchmarks.sink_cold import COLD_WAYS
from tests.parts.postgres import server_on_a_port

ROWS, ROUNDS, BATCHES, COLD_ROUNDS = 1_000_000, 5, 10, 3
LEDGER_SECONDS = 0.1
_LEDGERS = {
    "parquet": "Spark's append",
    "delta": "Delta's own append that is told apart by a number",
    "postgres": "Spark's JDBC append",
    "custom": "the bare function",
}

Measured = dict[str, list[tuple[float, float]]]


def measure(workshop: Workshop) -> list[Figure]:
    """Measure every sink."""
    say(f"streaming {ROWS:,} rows again and again, nine ways")
    measured = _told("sink_streams", workshop.folder / "streams")
    say("writing them at once four ways, and batches of one row eight ways")
    measured |= _told("sink_batches", workshop.folder / "batches")
    cold = cold_streams(workshop.folder / "cold")
    return [
        _stream(measured, "parquet", "Spark's own file sink", 0.95),
        _stream(measured, "delta", "Delta's own sink", 0.95),
        _stream(measured, "postgres", "Spark's JDBC append at its defaults", 1.0),
        _ratio(measured, "alone-ours", "alone-spark", "alone-again",
               "postgres, one batch of cached rows, against the same", 1.5),
        _ratio(measured, "alone-ours", "alone-tuned", None,
               "the same against JDBC append tuned (batchsize 10,000, rewritten inserts)", 0.8),
        *(_ledger(measured, kind, other) for kind, other in _LEDGERS.items()),
        *_cold_figures(cold),
    ]  # fmt: skip


def cold_streams(folder: Path) -> Measured:
    """Run every way in processes of their own, in turns."""
    command = [sys.executable, "-m", "benchmarks.sink_cold", str(folder)]
    took: Measured = {}
    with server_on_a_port() as server:
        run_cold([*command, server, "rows"])
        for turn in range(COLD_ROUNDS):
            say(f"streaming in a process each, {len(COLD_WAYS)} ways, round {turn + 1}")
            for way in COLD_WAYS:
                seconds, processor = json.loads(
                    run_cold([*command, server, way]).output.splitlines()[-1]
                )
                took.setdefault(way, []).append((seconds, processor))
    return took


def _cold_figures(took: Measured) -> list[Figure]:
    compared = [
        ("parquet", "parquet-spark", "Spark's own file sink", 0.95),
        ("delta", "delta-spark", "Delta's own sink", 0.95),
        ("postgres", "postgres-spark", "Spark's JDBC append at its defaults", 1.15),
        ("postgres", "postgres-tuned", "JDBC append tuned", 1.0),
    ]
    return [
        _ratio(
            took,
            f"{kind}-ours",
            theirs,
            None,
            f"{kind} append, a stream in a process of its own, against {words}",
            promised,
        )
        for kind, theirs, words, promised in compared
    ]


def _told(script: str, folder: Path) -> Measured:
    """Run a script with a server of its own: one full of tables is busy with looking after them."""
    command = [sys.executable, "-m", f"benchmarks.{script}", str(folder)]
    with server_on_a_port() as server:
        output = run_cold([*command, str(ROWS), str(ROUNDS), server]).output
    told: Measured = json.loads(output.splitlines()[-1])
    return told


def _stream(measured: Measured, kind: str, other: str, promised: float) -> Figure:
    what = f"{kind} append, the whole stream, against {other}"
    return _ratio(measured, f"{kind}-ours", f"{kind}-spark", f"{kind}-again", what, promised)


def _ratio(
    measured: Measured, ours: str, theirs: str, again: str | None, what: str, promised: float
) -> Figure:
    our_seconds, our_work = _middle(measured[ours])
    their_seconds, their_work = _middle(measured[theirs])
    ratio = their_seconds / our_seconds
    noise = ""
    if again is not None:
        repeated = abs(_middle(measured[again])[0] / their_seconds - 1) * 100
        noise = f"; theirs against itself: {repeated:.0f} %"
    return Figure(
        what,
        f"{ratio:.2f} times as fast ({our_seconds:.1f} s against {their_seconds:.1f} s; processor "
        f"{our_work:.1f} s against {their_work:.1f} s{noise})",
        f"at least {promised:g}",
        ratio >= promised,
    )


def _ledger(measured: Measured, kind: str, other: str) -> Figure:
    ours, theirs = (_middle(measured[f"small-{kind}-{side}"])[0] for side in ("ours", "spark"))
    return Figure(
        f"what it costs {kind} to know its batches: one row, against {other}",
        f"{ours - theirs:+.3f} s a batch ({ours:.3f} s against {theirs:.3f} s)",
        "at most 0.1 s more",
        ours - theirs <= LEDGER_SECONDS,
    )


def _middle(runs: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(one for one, _ in runs), statistics.median(one for _, one in runs)


SUBJECT = Subject(
    "Sinks",
    f"{ROWS:,} rows of five columns. Streams read the same files in {BATCHES} batches; every way "
    "in turns in one session, medians of five after two that warm up. Processor seconds are those "
    "of the whole machine, with the database server. Batches of one row are written 30 times in "
    "turns, after ten that warm up. A stream in a process of its own counts from its first planned "
    "batch to its last committed one, medians of three.",
    measure,
)
