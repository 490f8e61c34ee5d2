"""Damaged checkpoints on disk for the tests of remedies, and what real Spark did with such files.

A repaired checkpoint is held against tests/restarts: the same files were started there on real
Spark, and what came of it is recorded.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import holdfast
from holdfast.answers import Answer
from holdfast.errors import HoldfastError
from holdfast.records.offsetcopies import OffsetCopies
from holdfast.remedy.plan import Plan
from tests.diagnosis.doctor.recording import a_run, records_beside, write_runs
from tests.restarts.damages import damage_named
from tests.restarts.loading import Truth, base_files, damaged_files, truths

OUTPUT = "../output/"


@dataclass(frozen=True)
class Place:
    """A checkpoint in a folder of its own, with an output beside it."""

    root: Path
    output: Path
    query_id: str

    @property
    def sink(self) -> str | None:
        """The output, as `--sink` names it; None where there is none."""
        return str(self.output) if self.output.exists() else None

    def files(self) -> dict[str, bytes]:
        """Return every file of the checkpoint."""
        return tree(self.root)

    def damage(self, name: str) -> None:
        """Damage it as tests/restarts does, its output as well."""
        files = self.files() | {f"{OUTPUT}{path}": one for path, one in tree(self.output).items()}
        for folder in (self.root, self.output):
            shutil.rmtree(folder, ignore_errors=True)
        write(self, damage_named(name).function(files))

    def keep(self, batch: int) -> None:
        """Keep a copy of an offsets entry, as a run does before the sink writes."""
        OffsetCopies(records_beside(self.root)).keep(
            self.query_id, batch, (self.root / f"offsets/{batch}").read_bytes()
        )

    def record(self, batch: int | None) -> None:
        """Record a run that delivered this batch."""
        write_runs(self.root, a_run(query_id=self.query_id, last_batch=batch))

    def deliver(self, newest: int) -> None:
        """Let a file sink of Spark's know the batches up to this one."""
        shutil.rmtree(self.output, ignore_errors=True)
        log = self.output / "_spark_metadata"
        log.mkdir(parents=True)
        for batch in range(newest + 1):
            (log / str(batch)).write_bytes(b"v1")

    def plan(self, remedy: str = "repair", **options: str) -> Answer[Plan]:
        """Plan a remedy, with the output as its sink."""
        if remedy == "repair" and self.sink is not None:
            options = {"sink": self.sink, **options}
        return holdfast.plan(self.root, remedy, options)

    def repaired(self, **options: str) -> Plan:
        """Plan a repair and apply it."""
        plan = self.plan(**options).result
        holdfast.apply(plan, even_if_running=True)
        return plan

    def refusal(self, **options: str) -> HoldfastError:
        """Return why a repair is refused; nothing is written by asking."""
        before = self.files()
        try:
            plan = self.plan(**options).result
        except HoldfastError as error:
            assert self.files() == before
            return error
        raise AssertionError(plan)


def made(folder: Path, base: str, spark: str = "4.3.0") -> Place:
    """Put a base checkpoint of tests/restarts on the disk."""
    files = base_files(spark, base)
    place = Place(folder / "ckpt/orders", folder / "output", json.loads(files["metadata"])["id"])
    write(place, files)
    return place


def write(place: Place, files: Mapping[str, bytes]) -> None:
    """Write files; a key that ends in / is an empty folder."""
    place.root.mkdir(parents=True, exist_ok=True)
    for path, content in files.items():
        inside = path.removeprefix(OUTPUT)
        file = (place.root if inside == path else place.output) / inside
        if path.endswith("/"):
            file.mkdir(parents=True, exist_ok=True)
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {
        file.relative_to(folder).as_posix(): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file()
    }


def without_checksums(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Return the files that decide what a start does."""
    return {
        path: content
        for path, content in files.items()
        if not path.endswith((".crc", "/")) and not path.startswith("../")
    }


@cache
def _started(spark: str, base: str) -> tuple[tuple[dict[str, bytes], bool, Truth], ...]:
    return tuple(
        (without_checksums(damaged_files(one)), _is_beside(one.damage), one)
        for one in truths()
        if (one.spark, one.base) == (spark, base)
    )


def _is_beside(damage: str) -> bool:
    """Whether a damage is of checksums or folders, which are not compared here."""
    return "crc" in damage or "directory" in damage


def started(place: Place, base: str, spark: str = "4.3.0") -> set[str]:
    """Return what real Spark did when it was started on exactly these files."""
    now = without_checksums(place.files())
    return {
        one.action for files, beside, one in _started(spark, base) if files == now and not beside
    }
