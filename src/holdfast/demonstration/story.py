"""Tells the story: run, kill before the sink's commit, kill after it, resume, and count."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from holdfast import library
from holdfast.crashpoints import POINTS, VARIABLE
from holdfast.errors import HoldfastError, RunError, UsageError
from holdfast.jobs.discovery import PROFILE_VARIABLE, load_project
from holdfast.ledgers.delta.transactions import LOG_FOLDER, read_delta_ledger
from holdfast.redaction import excerpt
from holdfast.spark.session.installation import find_java, installed_spark
from holdfast.storage.local import LocalReader
from holdfast.wording import counted, pip_line

SENSORS = 12
_BEGINNING = datetime(2026, 3, 1, tzinfo=timezone.utc)
_BROKEN = (
    '{"sensor_id": "s-01", "read_at": "2026-03-',
    "battery low",
    '{"read_at": "2026-03-01T10:15:00Z", "value": 3.25}',
    '{"sensor_id": "s-07", "value": 21.5}',
    '{"sensor_id": "s-09", "read_at": "2026-03-01T11:00:00Z", "value": "n/a"}',
)


@dataclass
class Expected:
    """What the lake must hold, counted from the lines themselves and not by Spark."""

    lines: Counter[str] = field(default_factory=Counter)
    broken: Counter[str] = field(default_factory=Counter)
    hours: dict[tuple[str, datetime], list[float]] = field(default_factory=dict)

    @property
    def readings(self) -> int:
        """How many lines are readings."""
        return self.lines.total() - self.broken.total()


class Sensors:
    """Writes files of readings, the same for the same seed."""

    def __init__(self, folder: Path, seed: int) -> None:
        self._folder = folder
        self._random = random.Random(seed)
        self._files = 0
        self.expected = Expected()

    def write(self, files: int, lines: int) -> None:
        """Let more files arrive, each whole at once."""
        self._folder.mkdir(parents=True, exist_ok=True)
        for _ in range(files):
            text = "".join(f"{self._line()}\n" for _ in range(lines))
            arriving = self._folder / f".part-{self._files:05d}"
            arriving.write_text(text, encoding="utf-8")
            arriving.rename(self._folder / f"part-{self._files:05d}.jsonl")
            self._files += 1

    def _line(self) -> str:
        if self._random.random() < 0.02:
            line = self._random.choice(_BROKEN)
            self.expected.broken[line] += 1
        else:
            line = self._reading()
        self.expected.lines[line] += 1
        return line

    def _reading(self) -> str:
        sensor = f"s-{self._random.randrange(SENSORS):02d}"
        moment = _BEGINNING + timedelta(seconds=self._random.randrange(24 * 3600))
        # Quarters are exact in binary: sums compare equal in whatever order they were made.
        value = self._random.randrange(400) / 4
        hour = moment.replace(minute=0, second=0)
        self.expected.hours.setdefault((sensor, hour), []).append(value)
        moment_text = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
        return json.dumps({"sensor_id": sensor, "read_at": moment_text, "value": value})


@dataclass(frozen=True)
class Count:
    """One table against what it must hold."""

    table: str
    expected: int
    found: int
    lost: int
    doubled: int
    """Rows too many: a second time, or not expected at all."""

    @property
    def sentence(self) -> str:
        """Say it in words."""
        wrong = f"{self.lost} lost, {self.doubled} duplicated"
        return f"{self.table}: {counted(self.found, 'row')} for {self.expected:,} expected, {wrong}"


def count_lake(lake: Path, expected: Expected) -> tuple[Count, ...]:
    """Compare every table of the lake, row by row."""
    raw = Counter(row["line"] for row in _rows(lake / "raw"))
    quarantine = Counter(row["line"] for row in _rows(lake / "quarantine"))
    readings = Counter(
        (row["sensor_id"], _hour(row["read_at"]), row["value"]) for row in _rows(lake / "readings")
    )
    gold = Counter(
        (row["sensor_id"], _hour(row["hour"]), row["readings"], row["total"])
        for row in _rows(lake / "gold")
    )
    single = Counter(
        (sensor, hour, value) for (sensor, hour), values in expected.hours.items()
        for value in values
    )  # fmt: skip
    summed = Counter(
        (sensor, hour, len(values), sum(values))
        for (sensor, hour), values in expected.hours.items()
    )
    return (
        _count("raw", expected.lines, raw),
        _count("readings", single, readings),
        _count("quarantine", expected.broken, quarantine),
        _count("gold", summed, gold),
    )


def _count(table: str, expected: Counter[Any], found: Counter[Any]) -> Count:
    lost, doubled = expected - found, found - expected
    return Count(table, expected.total(), found.total(), lost.total(), doubled.total())


def _hour(moment: Any) -> Any:
    return moment.astimezone(timezone.utc).replace(minute=0, second=0, microsecond=0)


def _rows(table: Path) -> Iterable[dict[str, Any]]:
    try:
        from deltalake import DeltaTable
    except ImportError as error:
        message = "the demonstration counts with deltalake, which is not installed"
        steps = (pip_line("demo"),)
        raise UsageError("HF1001", message, next_steps=steps) from error
    rows: list[dict[str, Any]] = DeltaTable(str(table)).to_pyarrow_table().to_pylist()
    return rows


SEED = 20260301
FILES, LINES = 8, 500
EXAMPLE = "sensors"

_UPSTREAM = {"sensor-raw-ingest": 2, "sensor-deserialize": 1}
"""The jobs that the last one reads from, with the batches that they have to deliver by then."""
_JAVA, _QUICK = "SPARK_SUBMIT_OPTS", "-XX:TieredStopAtLevel=1"
"""A JVM that lives for seconds spends most of them on compiling what it will never run again."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Kill:
    """One kill, and what the files say right after it."""

    job: str
    point: str
    meaning: str
    batch_id: int
    planned: bool
    """offsets/<batch> is there."""
    in_sink: bool
    """The table's own log holds the batch."""
    committed: bool
    """commits/<batch> is there."""
    next_start: str


@dataclass(frozen=True)
class Demonstration:
    """What was shown."""

    folder: str
    kills: tuple[Kill, ...]
    counts: tuple[Count, ...]
    skipped_batches: int
    """Batches that were in the table already and were not written again."""
    lost: int
    doubled: int
    seconds: float

    @property
    def verdict(self) -> int:
        """The exit status: 60 where a row is lost or doubled."""
        return 60 if self.lost or self.doubled else 0


def demonstrate(folder: Path, say: Say, *, seed: int = SEED) -> Demonstration:
    """Run the sensor pipeline through two kills; raise RunError where the story breaks off."""
    installed_spark()
    find_java()
    began = time.monotonic()
    project = _copied(folder)
    sensors = Sensors(project / "incoming", seed)
    sensors.write(FILES, LINES)
    say(f"{FILES} files of {LINES} lines arrive; all four jobs run")
    _run(project, say)
    sensors.write(FILES, LINES)
    say(f"{FILES} more files arrive")
    first = _kill(project, "sensor-raw-ingest", "sink.before-commit", say)
    second = _kill(project, "sensor-merge-gold", "sink.after-commit", say, _UPSTREAM)
    say("all jobs start again")
    skipped = _run(project, say)
    counts = count_lake(project / "lake", sensors.expected)
    for count in counts:
        say(count.sentence)
    return Demonstration(
        folder=str(project),
        kills=(first, second),
        counts=counts,
        skipped_batches=skipped,
        lost=sum(count.lost for count in counts),
        doubled=sum(count.doubled for count in counts),
        seconds=round(time.monotonic() - began, 1),
    )


def _copied(folder: Path) -> Path:
    project = folder / EXAMPLE
    if project.exists():
        message = f"{project} already exists"
        raise UsageError("HF1001", message, next_steps=("give an empty or new directory",))
    try:
        shutil.copytree(_example(), project)
    except OSError as failure:
        reason = (failure.strerror or str(failure)).lower()
        message = f"the example cannot be copied: {reason}"
        raise UsageError("HF1006", message, at=str(project)) from failure
    return project


def _example() -> Path:
    """Find the pipeline: inside the installed package, or in the tree that it is built from."""
    packaged = Path(__file__).parent / EXAMPLE
    return packaged if packaged.is_dir() else Path(__file__).parents[3] / "examples" / EXAMPLE


def _run(project: Path, say: Say, *jobs: str) -> int:
    """Run jobs to their end, and give how many batches were in their sinks already."""
    ended = _holdfast(project, "run", *jobs)
    document = _document(ended)
    if ended.returncode != 0 or not document.get("result"):
        raise _broke_off("a job did not finish", ended)
    for job in document["result"]["jobs"]:
        done = f"{counted(job['batches'], 'batch')}, {counted(job['rows'], 'row')}"
        say(f"  {job['job']}: {job['ended']}, {done}")
    return sum(job["skipped_batches"] for job in document["result"]["jobs"])


def _kill(
    project: Path, job: str, point: str, say: Say, upstream: Mapping[str, int] | None = None
) -> Kill:
    """Run a job, after those it reads from, kill it at a point, and look at what is left."""
    before = upstream or {}
    after = f", after {' and '.join(before)}" if before else ""
    say(f"{job} runs{after}, and is killed when {POINTS[point]}")
    # Those before it reach the same point once for every batch that they have to deliver.
    wanted = f"{point}:{sum(before.values()) + 1}"
    ended = _holdfast(project, "run", *before, job, environment={VARIABLE: wanted})
    if ended.returncode != -signal.SIGKILL:
        raise _broke_off(f"{job} was not killed at {point}", ended)
    kill = _looked_at(project, job, point)
    batch = kill.batch_id
    say(f"  offsets/{batch} is {_there(kill.planned)}: Spark planned batch {batch}")
    say(f"  the table's log {'holds' if kill.in_sink else 'does not hold'} batch {batch}")
    say(f"  commits/{batch} is {_there(kill.committed)}")
    say(f"  holdfast inspect {job}: {kill.next_start}")
    return kill


def _looked_at(project: Path, job: str, point: str) -> Kill:
    file = project / "holdfast.yaml"
    checkpoint = project / "checkpoints" / job
    inspected = library.inspect(job, project=file).result
    pending = inspected.batches.pending
    if pending is None:
        raise RunError("HF5311", f"no batch of {job} is pending after it was killed", at=job)
    held = _held_by_table(project, job, inspected.query_id)
    forecast = inspected.next_start
    return Kill(
        job=job,
        point=point,
        meaning=POINTS[point],
        batch_id=pending,
        planned=(checkpoint / "offsets" / str(pending)).is_file(),
        in_sink=held is not None and held >= pending,
        committed=(checkpoint / "commits" / str(pending)).is_file(),
        next_start=f"{forecast.action.value} batch {forecast.batch_id}: {forecast.reason}",
    )


def _held_by_table(project: Path, job: str, query_id: str | None) -> int | None:
    """Ask the table's own log for the newest batch of a query."""
    declared = load_project(project / "holdfast.yaml").jobs[job].sink.path or ""
    log = project / declared / LOG_FOLDER
    ledger = read_delta_ledger(LocalReader(str(log)))
    return None if ledger is None else ledger.last_committed(query_id).value


def _holdfast(
    project: Path, *words: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Call the program itself, in a process group of its own that can be killed whole."""
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words, "--json"],
        cwd=project,
        # The profile that somebody works with is not one of this project.
        env={_JAVA: _QUICK, **os.environ, PROFILE_VARIABLE: "", **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )


def _broke_off(why: str, ended: subprocess.CompletedProcess[str]) -> HoldfastError:
    """Return the error that the command reported itself, or its last words."""
    error = _document(ended).get("error")
    if error is not None:
        return HoldfastError(error["code"], error["message"], at=error["at"], why=error["why"])
    printed = (ended.stdout + ended.stderr).strip().splitlines()
    message = f"{why}; its last output: {excerpt(' '.join(printed[-8:]), 400)}"
    return RunError("HF5311", message)


def _document(ended: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """Return what the command answered; nothing where it was killed before it could."""
    try:
        found: dict[str, Any] = json.loads(ended.stdout)
    except ValueError:
        return {}
    return found


def _there(present: bool) -> str:
    return "there" if present else "not there"
