"""One plan of every remedy, without Spark, and what its folder looks like before and after."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.jobs.registry import remember_checkpoint
from holdfast.ledgers.sinkstate import LastCommitted
from holdfast.remedy.plan import Plan, encode_plan
from holdfast.running.bounded import BoundedBatches
from holdfast.storage.location import Location
from tests.backup.folders import aged
from tests.remedy.played import Played, played
from tests.remedy.repairing import made as damaged_place
from tests.remedy.resetting import made as reset_project

Look = Mapping[str, bytes | None]


@dataclass
class Case:
    """A plan that was made in a folder, which can be put back to how it was."""

    root: Path
    target: str
    plan: Plan
    project: Path | None = None
    fenced: tuple[str, ...] = ()
    """Outputs that keep the generation which was the last to change them."""
    before: Look = field(init=False)
    applied: Look = field(init=False)

    def __post_init__(self) -> None:
        aged(self.root)
        self.keep()
        self.file.write_text(json.dumps(encode_plan(self.plan)), encoding="utf-8")
        self.before = self.look()

    @property
    def file(self) -> Path:
        """The file of the plan."""
        return self.root.parent / "plan.json"

    @property
    def _original(self) -> Path:
        return self.root.parent / "original"

    def keep(self) -> None:
        """Let the folder be put back to how it is now."""
        shutil.rmtree(self._original, ignore_errors=True)
        shutil.copytree(self.root, self._original)

    def put_back(self) -> None:
        """Make the folder what it was when the plan was made, or when it was kept last."""
        shutil.rmtree(self.root)
        shutil.copytree(self._original, self.root)

    def words(self, *words: str) -> list[str]:
        """Return a command with the options that it needs here."""
        given = () if self.project is None else ("--project", str(self.project))
        return [*words, "--yes", *given]

    def look(self) -> Look:
        """Return everything but what an act leaves of itself: journal, backups, leases."""
        found: dict[str, bytes | None] = {}
        for path in sorted(self.root.rglob("*")):
            name = path.relative_to(self.root).as_posix()
            if not _OF_ACTS.search(name) and (path.is_file() or not _RECORDS.search(name)):
                found[name] = path.read_bytes() if path.is_file() else None
                if name in self.fenced:
                    state = json.loads(path.read_bytes())
                    found[name] = json.dumps({**state, "generation": None}, sort_keys=True).encode()
        return found


_RECORDS = re.compile(r"(^|/)\.holdfast(/|$)")
_OF_ACTS = re.compile(
    r"(^|/)\.holdfast/(.*/)?(journal|backups|lease)(/|$)"
    r"|\.checkpoints\.lock$|/manifests/-epochs/"
)
"""Fences of a sink stay as well: a number of a batch that was locked out is not given again."""
_VOLATILE = re.compile(
    rb"\d{8}T\d{9}Z-\w+|\d{4}-\d\d-\d\dT[\d:.]+Z|\"generation\": ?\d+|\d{13}|(?<=/)\d{10}(?=\.json)"
)


def comparable(look: Look) -> Look:
    """Return the same without moments, ids of acts and generations."""

    def lasting(content: bytes) -> bytes:
        return _VOLATILE.sub(b"#", content)

    found: dict[str, bytes | None] = {}
    for path, content in look.items():
        name = lasting(path.encode()).decode()
        while name in found:
            name += ", again"
        found[name] = None if content is None else lasting(content)
    return found


def _of_project(made: Played, remedy: str, fenced: tuple[str, ...] = (), **options: Any) -> Case:
    aged(made.folder)
    plan = holdfast.plan("job", remedy, options, project=made.file).result
    return Case(made.folder, "job", plan, made.file, fenced)


def replay(folder: Path, _: pytest.MonkeyPatch) -> Case:
    """Take two batches back from a sink of files."""
    return _of_project(played(folder / "p"), "replay", from_batch=2)


def reset(folder: Path, _: pytest.MonkeyPatch) -> Case:
    """Clear a sink of files, and start from the beginning."""
    return _of_project(played(folder / "p", 2), "reset", output="clear")


def reset_elsewhere(folder: Path, _: pytest.MonkeyPatch) -> Case:
    """Start over with a new output; the former one is fenced."""
    return _of_project(played(folder / "p", 2), "reset", output="keep-new:./lake/two")


def retire(folder: Path, _: pytest.MonkeyPatch) -> Case:
    """Close a job for good."""
    return _of_project(played(folder / "p", 2), "retire")


def cascade(folder: Path, patch: pytest.MonkeyPatch) -> Case:
    """Reset a job, and the one that reads its output."""
    (folder / "p").mkdir(parents=True)
    made = reset_project(folder / "p", patch)
    made.add_reader("gold")
    aged(made.folder)
    return Case(
        made.folder, "ingest", made.plan(cascade=True), made.file, ("output.json", "gold.json")
    )


def move(folder: Path, _: pytest.MonkeyPatch) -> Case:
    """Bring the checkpoint of a job to another folder; the project has it in its list."""
    made = played(folder / "p", 2)
    made.record(1)
    remember_checkpoint(made.folder, "job", f"file://{made.checkpoint}")
    return _of_project(made, "move", to=str(made.folder / "elsewhere"))


def repair(folder: Path, _: pytest.MonkeyPatch) -> Case:
    """Put files back that a backup has."""
    place = damaged_place(folder / "p", "aggregation")
    holdfast.back_up(place.root)
    place.damage("state-partition-removed")
    aged(folder / "p")
    return Case(folder / "p", str(place.root), place.plan().result)


def clean(folder: Path, _: pytest.MonkeyPatch) -> Case:
    """Remove what nothing reads."""
    place = damaged_place(folder / "p", "stateless")
    (place.root / "offsets/.4.2f1e6f0a-0c0c-4a55-9d6e-1a2b3c4d5e6f.tmp").write_bytes(b"torn")
    aged(folder / "p")
    return Case(folder / "p", str(place.root), place.plan("clean").result)


class Table:
    """A table that upserts by `n`: what is in it, the newest batch of each name, its fence."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.put({"rows": {}, "batches": {}, "generation": 0})

    @property
    def state(self) -> dict[str, Any]:
        """What is in it."""
        found: dict[str, Any] = json.loads(self.file.read_text(encoding="utf-8"))
        return found

    def put(self, state: Mapping[str, Any]) -> None:
        """Write what is in it."""
        self.file.write_text(json.dumps(state, sort_keys=True), encoding="utf-8")

    def last_committed(self, name: str) -> LastCommitted:
        """Return the newest batch of a name."""
        newest = self.state["batches"].get(name)
        return (
            LastCommitted.nothing("asked")
            if newest is None
            else LastCommitted.batch(newest, "asked")
        )

    def fence(self, _name: str, *, generation: int) -> None:
        """Lock older drivers out."""
        self.put(self.state | {"generation": generation})

    def run(self, place: Location, batches: BoundedBatches) -> int:
        """Run what is left, as Spark does; a batch that the table has is skipped."""
        for batch in range(1, batches.last + 1):
            if batches.committed(batch):
                continue
            batches.is_there(batch)
            batches.offered(batch)
            batches.confirm()
            state, newest = self.state, self.last_committed(batches.name).value
            if newest is None or newest < batch:
                state["rows"][str(batch)] = "again"
                state["batches"][batches.name] = batch
                self.put(state)
            commit = Path(place.url.removeprefix("file://")) / f"commits/{batch}"
            commit.write_text('v1\n{"nextBatchWatermarkMs":0}', encoding="utf-8")
        return batches.last


def backfill(folder: Path, patch: pytest.MonkeyPatch) -> Case:
    """Compute two files again beside the stream; what Spark would do is done here."""
    sink = {"format": "delta", "path": "./lake/t", "mode": "upsert", "key": ["n"], "order_by": "n"}
    made = played(folder / "p", 4, sink=sink)
    table = Table(made.folder / "table.json")

    @contextmanager
    def opened(_found: Any, _planned: Any = None, **_: Any) -> Iterator[Table]:
        yield table

    patch.setattr("holdfast.library.remedies.opened_sink", opened)
    patch.setattr(
        "holdfast.library.backfills._run_bounded",
        lambda _found, place, batches, *_: table.run(place, batches),
    )
    options = {"from": "001-0.json", "to": "002-0.json", "batches": 2}
    return _of_project(made, "backfill", ("table.json",), **options)


CASES: Mapping[str, Callable[[Path, pytest.MonkeyPatch], Case]] = {
    one.__name__.replace("_", "-"): one
    for one in (
        replay, reset, reset_elsewhere, retire, cascade, move, repair, clean, backfill
    )
}  # fmt: skip
