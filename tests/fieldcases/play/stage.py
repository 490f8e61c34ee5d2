"""A place to play one case: a project with a job that ran, and a person who types commands."""

from __future__ import annotations

import json
import os
import re
import shlex
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

import holdfast
from tests.cli.running import Printed
from tests.cli.running import holdfast as command
from tests.diagnosis.doctor.trials.bench import remove
from tests.fieldcases.play.outputs import rows_of

JOB = "orders"
AGE_SECONDS = 3_600
SCHEMA = "n long, k string"
AS_ROWS = "select n, k from source"
PLAN = "plan.json"
_COMMAND = re.compile(r"holdfast (?:(?!  |, or |; | \(|\)).)+")

Rows = Counter[tuple[Any, ...]]
Right = Callable[[list[int]], Rows]


class UnplayableError(Exception):
    """What was named does not exist, was refused, or failed: the case has no remedy like this."""


@dataclass(frozen=True)
class Parts:
    """What runs beside Spark, each started at its first use."""

    spark: Any
    database: Callable[[], str]
    """Creates a fresh PostgreSQL database, and returns its URI."""
    broker: Callable[[], str]
    """Returns the address of a Kafka broker."""


def passed_on(numbers: list[int]) -> Rows:
    """Return the rows of a query that passes on what it reads."""
    return Counter((number, f"k{number % 3}") for number in numbers)


@dataclass
class Stage:
    """One project with one job, and everything that was typed in it."""

    parts: Parts
    folder: Path
    right: Right = passed_on
    """The rows that an undisturbed run of the job as it is now would have delivered."""
    steps: list[str] = field(default_factory=list)
    """The commands that were typed to bring the job back, in their order."""
    reported: dict[str, str] = field(default_factory=dict)
    """Each code that was found after the damage, with its worst severity."""
    numbers: list[int] = field(default_factory=list)
    """What has arrived in the source."""
    sending: Callable[[list[int]], None] | None = None
    """Brings numbers into a source that is not a directory."""
    instead: dict[str, Any] | None = None
    """Where the rows of a function are, as a declared sink would be."""
    root: str = "./checkpoints"
    """The directory of the checkpoints, as the project declares it."""
    also: list[Callable[[], Rows]] = field(default_factory=list)
    """Outputs of before, whose rows count too."""
    _moment: int = field(default_factory=time.time_ns)

    def declare(self, **job: Any) -> None:
        """Write the project file; what is not given stays as it is declared."""
        before = self.job if self.file.exists() else self._plain()
        declared = {key: value for key, value in {**before, **job}.items() if value is not None}
        spark = {"master": "local[2]", "conf": {"spark.sql.shuffle.partitions": 2}}
        document = {
            "project": "shop", "checkpoints": self.root, "spark": spark, "jobs": {JOB: declared},
        }  # fmt: skip
        self.file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")

    def _plain(self) -> dict[str, Any]:
        return {
            "source": {
                "format": "json", "path": "./in", "schema": SCHEMA,
                "options": {"maxFilesPerTrigger": 1},
            },
            "sql": AS_ROWS,
            "sink": {"format": "delta", "path": "./lake/orders"},
        }  # fmt: skip

    @property
    def file(self) -> Path:
        """The project file."""
        return self.folder / "holdfast.yaml"

    @property
    def job(self) -> dict[str, Any]:
        """The job as it is declared."""
        found: dict[str, Any] = yaml.safe_load(self.file.read_text(encoding="utf-8"))
        declared: dict[str, Any] = found["jobs"][JOB]
        return declared

    @property
    def checkpoint(self) -> Path:
        """Where the job's checkpoint is."""
        return self.folder / str(self.job.get("checkpoint", f"{self.root}/{JOB}"))

    def path(self, inside: str) -> Path:
        """Return a file of the checkpoint."""
        return self.checkpoint / inside

    def arrive(self, files: int = 1, into: str = "in") -> None:
        """Let files with the next two numbers each arrive in the source."""
        for _ in range(files):
            first = len(self.numbers)
            new = [first, first + 1]
            self.numbers += new
            if self.sending is not None:
                self.sending(new)
                continue
            (self.folder / into).mkdir(exist_ok=True)
            lines = [json.dumps({"n": number, "k": f"k{number % 3}"}) for number in new]
            arriving = self.folder / into / f".{first}"
            arriving.write_text("\n".join(lines), encoding="utf-8")
            # Spark takes files by their times, which two of one millisecond share.
            self._moment += 10_000_000
            os.utime(arriving, ns=(self._moment, self._moment))
            arriving.rename(self.folder / into / f"{first:06d}.json")

    def play(self, batches: int = 4, **job: Any) -> None:
        """Declare the job, and let it deliver some batches."""
        self.declare(**job)
        self.arrive(batches)
        self.run_before()

    def run_before(self) -> None:
        """Run the job as it was before the damage; nothing may be wrong yet."""
        with self._here():
            holdfast.run(JOB)

    def run(self, *accepted: str, **options: Any) -> None:
        """Run the job until everything is read; UnplayableError where it is refused or fails."""
        words = [f"--accept {one}" for one in accepted]
        if "pending_delivered" in options:
            words.append(f"--pending {'' if options['pending_delivered'] else 'not-'}delivered")
        self.steps.append(" ".join(["holdfast run", JOB, *words]))
        with self._here():
            answer = holdfast.run(JOB, accept=list(accepted), raise_on_failure=False, **options)
        if answer.exit_status:
            found = "; ".join(f"{one.code}: {one.message}" for one in answer.findings)
            raise UnplayableError(f"the run ended with {answer.exit_status}: {found}")

    def later(self) -> None:
        """Let an hour pass: nobody writes to the checkpoint."""
        for path in self.checkpoint.rglob("*"):
            if path.is_file():
                seen = path.stat()
                moved = (seen.st_atime - AGE_SECONDS, seen.st_mtime - AGE_SECONDS)
                os.utime(path, moved)

    def refused(self, code: str) -> Mapping[str, tuple[str, ...]]:
        """Run the job, which is refused with this code; return the next steps of each finding."""
        self.steps.append(f"holdfast run {JOB}")
        with self._here():
            answer = holdfast.run(JOB, raise_on_failure=False)
        for one in answer.findings:
            self.reported[one.code] = one.severity.value
        steps = {one.code: one.next_steps for one in answer.findings}
        if code not in steps:
            found = [one.message for one in answer.findings]
            raise UnplayableError(f"{code} was not found, but {answer.exit_status}: {found}")
        return steps

    def typed(self, text: str, *more: str) -> Printed:
        """Type a command in the project's directory; UnplayableError where it is refused."""
        words = [*shlex.split(text)[1:], *more]
        self.steps.append(shlex.join(["holdfast", *words]).replace(str(self.folder), "."))
        with self._here():
            shown = command(*words)
        if shown.status:
            raise UnplayableError(f"{self.steps[-1]} ended with {shown.status}: {shown.err}")
        return shown

    def back_up(self) -> None:
        """Back the job up while it is well, as a schedule does."""
        with self._here():
            assert command("backup", JOB).status == 0

    def ask(self, *options: str) -> Mapping[str, tuple[str, ...]]:
        """Ask the doctor; return the next steps of each finding."""
        self.later()
        words = ["doctor", JOB, *options]
        self.steps.append(shlex.join(["holdfast", *words]))
        with self._here():
            found = command(*words, "--json").document["findings"]
        for one in reversed(found):
            self.reported[one["code"]] = one["severity"]
        return {one["code"]: tuple(one["next"]) for one in found}

    def check(self) -> Mapping[str, tuple[str, ...]]:
        """Ask whether the code as it is now may continue; return the steps of each finding."""
        self.later()
        self.steps.append(f"holdfast check {JOB}")
        with self._here():
            answer = holdfast.check(JOB)
        for one in reversed(answer.findings):
            self.reported[one.code] = one.severity.value
        return {one.code: one.next_steps for one in answer.findings}

    def plan_of(self, code: str, *options: str) -> None:
        """Ask the doctor, and apply the plan that it names for this finding."""
        self.apply(named(self.ask(*options), code, "holdfast plan"))

    def apply(self, text: str, **chosen: str) -> None:
        """Save the plan that a command makes, and apply it; what a person chooses is filled in."""
        for word, choice in chosen.items():
            assert word in text, (word, text)
            text = text.replace(word, shlex.quote(choice))
        self.typed(text, "-o", PLAN)
        self.typed(f"holdfast apply {PLAN} --yes")

    def remove(self, *inside: str) -> None:
        """Remove files of the checkpoint with the checksums beside them."""
        for one in inside:
            remove(self.path(one))

    def overwrite(self, inside: str, content: bytes) -> None:
        """Write other bytes in place of a file, without the checksum of the former ones."""
        path = self.path(inside)
        path.with_name(f".{path.name}.crc").unlink(missing_ok=True)
        path.write_bytes(content)

    def newest(self, pattern: str) -> str:
        """Return the newest numbered file of the checkpoint that fits."""
        found = [one for one in self.checkpoint.glob(pattern) if one.name[0].isdigit()]
        newest = max(found, key=lambda one: int(re.findall(r"[0-9]+", one.name)[0]))
        return newest.relative_to(self.checkpoint).as_posix()

    def rows(self) -> Rows:
        """Return the rows that a plain reader sees in the output."""
        seen = rows_of(self.parts.spark, self.folder, self.instead or self.job["sink"])
        for former in self.also:
            seen += former()
        return seen

    def keeps(self, sink: dict[str, Any]) -> None:
        """Count the rows of an output of before, too."""
        self.also.append(lambda: rows_of(self.parts.spark, self.folder, sink))

    @contextmanager
    def _here(self) -> Iterator[None]:
        before = Path.cwd()
        os.chdir(self.folder)
        try:
            yield
        finally:
            os.chdir(before)


def named(steps: Mapping[str, tuple[str, ...]], code: str, beginning: str) -> str:
    """Return the command that the next steps of a finding name; UnplayableError without one."""
    if code not in steps:
        raise UnplayableError(f"{code} was not found, but {', '.join(steps) or 'nothing'}")
    for step in steps[code]:
        for found in _COMMAND.findall(step):
            if str(found).startswith(beginning):
                return str(found).strip()
    raise UnplayableError(f"{code} names no `{beginning}`: {'; '.join(steps[code])}")
