"""Spark's micro-batch loop as far as a sink and a checkpoint see it, in Spark's own file formats.

Offsets are written before a batch runs and commits after it, each once. A driver that finds an
entry written by another one stops, as Spark does. After a start the pending batch runs again with
its recorded offsets. Spark's own files are taken for flushed: what Spark loses in a power cut is
not Holdfast's promise.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from holdfast.errors import RunError
from tests.simulation.schedule import FAIL, LOST
from tests.simulation.world import World

_CONF = {"spark.sql.shuffle.partitions": "2"}


@dataclass
class Source:
    """Rows 0, 1, 2 …; whenever somebody plans a batch, two more have arrived."""

    total: int
    plans: int = 0

    def end_after(self, start: int) -> int:
        """Return where a batch that begins here ends now: with the newest row."""
        self.plans += 1
        return max(start, min(self.total, 2 * self.plans))


class Batch:
    """The rows of one batch, as far as a sink asks for them."""

    def __init__(self, rows: range) -> None:
        self.rows = rows
        self.schema = None

    @property
    def write(self) -> Batch:
        """Stand for the writer of a frame."""
        return self

    def format(self, _name: str) -> Batch:
        """Write nothing."""
        return self

    def mode(self, _name: str) -> Batch:
        """Write nothing."""
        return self

    def save(self) -> None:
        """Write nothing."""


class Query:
    """A running query: each look at `isActive` runs one batch, as the thread of Spark would."""

    def __init__(
        self, world: World, checkpoint: str, source: Source, deliver: Any, *, stateful: bool = False
    ) -> None:
        self._world = world
        self._root = checkpoint
        self._source = source
        self._deliver = deliver
        self._stateful = stateful
        self._over: Any = None
        self._active = True
        self._failed: BaseException | None = None
        self._batches = self._loop()
        self.id = self._query_id()
        self.runId = world.fresh_name()

    @property
    def isActive(self) -> bool:  # noqa: N802  (Spark's name)
        """Run the next batch; False when the query is over."""
        if self._active:
            try:
                next(self._batches)
            except StopIteration:
                self.stop()
            except Exception as error:  # noqa: BLE001 - what a delivery raises ends a query
                self._failed = error
                self.stop()
        return self._active

    @property
    def ended(self) -> bool:
        """Whether it runs no more; unlike `isActive`, asking does nothing."""
        return not self._active

    def exception(self) -> BaseException | None:
        """Return what ended the query."""
        return self._failed

    def stop(self) -> None:
        """Run no further batch."""
        self._active = False
        if self._over is not None:
            self._over()

    def follow(self, _run_id: str, _heard: Any, over: Any) -> None:
        """Stand for what listens to the query."""
        self._over = over

    def _query_id(self) -> str:
        content = self._read("metadata")
        if content is None:
            name = self._world.fresh_name()
            made = f"{name[:8]}-{name[8:12]}-4000-8000-{name[20:32]}"
            if not self._create("metadata", json.dumps({"id": made}).encode()):
                message = "Spark stopped: multiple streaming queries are concurrently using it"
                raise RunError("HF5302", message)
            return made
        try:
            return str(json.loads(content)["id"])
        except ValueError as error:
            raise RunError("HF5302", "Spark stopped: metadata is no JSON") from error

    def _loop(self) -> Iterator[None]:
        planned, committed = self._newest("offsets"), self._newest("commits")
        batch_id, start = 0, 0
        if planned is not None:
            before = self._end_of(planned - 1) if planned else 0
            if committed == planned:
                batch_id, start = planned + 1, self._end_of(planned)
            else:
                self._run(planned, range(before, self._end_of(planned)))
                yield
                batch_id, start = planned + 1, self._end_of(planned)
        while (end := self._source.end_after(start)) > start:
            self._add("offsets", batch_id, offsets_entry(end))
            self._run(batch_id, range(start, end))
            batch_id, start = batch_id + 1, end
            yield

    def _run(self, batch_id: int, rows: range) -> None:
        if self._stateful:
            self._write_state(batch_id)
        self._deliver(Batch(rows), batch_id)
        self._add("commits", batch_id, b'v1\n{"nextBatchWatermarkMs":0}')

    def _write_state(self, batch_id: int) -> None:
        """Load the state of the batch before, and write that of this one."""
        if batch_id and self._read(f"state/0/0/{batch_id}.delta") is None:
            raise RunError("HF5302", "Spark stopped: a state file is gone")
        self._put(f"state/0/0/{batch_id + 1}.delta", b"state %d" % batch_id)

    def _end_of(self, batch_id: int) -> int:
        content = self._read(f"offsets/{batch_id}")
        if content is None:
            raise RunError("HF5302", f"Spark stopped: batch {batch_id} doesn't exist")
        return int(json.loads(content.decode().splitlines()[-1])["numbers"]["0"])

    def _newest(self, log: str) -> int | None:
        self._step("names", log)
        names = self._world.tree.children(f"{self._root}/{log}")
        return max((int(name) for name in names if name.isdigit()), default=None)

    def _add(self, log: str, batch_id: int, content: bytes) -> None:
        if not self._create(f"{log}/{batch_id}", content):
            message = f"Spark stopped: multiple streaming jobs detected for {log}/{batch_id}"
            raise RunError("HF5302", message)

    def _read(self, path: str) -> bytes | None:
        self._step("read", path)
        file = self._world.tree.files.get(f"{self._root}/{path}")
        return None if file is None else file.content

    def _create(self, path: str, content: bytes) -> bool:
        answer = self._step("spark-create", path, mutates=True)
        full = f"{self._root}/{path}"
        if full in self._world.tree.files:
            return False
        self._world.tree.put_durably(full, content, self._moment())
        if answer == LOST:
            raise RunError("HF5302", "Spark stopped: the storage's answer was lost")
        return True

    def _put(self, path: str, content: bytes) -> None:
        self._step("spark-write", path, mutates=True)
        self._world.tree.put_durably(f"{self._root}/{path}", content, self._moment())

    def _step(self, kind: str, path: str, *, mutates: bool = False) -> str | None:
        answer = self._world.step(kind, f"{self._root}/{path}", mutates=mutates)
        if answer == FAIL or (answer == LOST and not mutates):
            raise RunError("HF5302", "Spark stopped: the storage did not answer")
        return answer

    def _moment(self) -> int:
        return int((self._world.now + 1_800_000_000.0) * 1000)


def offsets_entry(end: int) -> bytes:
    """Return an offsets entry as Spark writes it: the source ends here."""
    metadata = {"batchWatermarkMs": 0, "batchTimestampMs": 1_800_000_000_000, "conf": _CONF}
    return f'v1\n{json.dumps(metadata)}\n{{"numbers":{{"0":{end}}}}}'.encode()
