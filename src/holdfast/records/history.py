"""Remembers the runs on a checkpoint, one file a run, whole at every moment.

`runs/<generation>.json` is replaced as the run goes on; only the holder of that generation writes
it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from holdfast.errors import CheckpointError, NotFoundError, StorageError
from holdfast.records.documents import UnreadableError
from holdfast.records.folder import RecordsFolder, prune
from holdfast.records.rewinds import Rewinds
from holdfast.records.run import Run, decode_run, encode_run

KEPT_RUNS = 200
_AT_ONCE = 4
_NAME = re.compile(r"(\d{10})\.json")


class History:
    """The runs of one checkpoint."""

    def __init__(self, folder: RecordsFolder) -> None:
        self.damages: tuple[CheckpointError | StorageError, ...] = ()
        """Why records could not be read when the runs were asked for last."""
        self.failure: StorageError | None = None
        """Why old records could not be removed."""
        self._reader = folder.reader("runs")
        self._rewinds = Rewinds(folder)
        self._folder = folder
        self._begun: set[int] = set()

    def write(self, run: Run) -> None:
        """Write what is known of a run now, in place of what was; a reader never sees a part."""
        if not self._begun:
            # Opened by whoever runs: a reader of history needs no right to write.
            self._writer = self._folder.writer("runs")
        self._writer.replace(run_name(run.generation), encode_run(run))
        if run.generation not in self._begun:
            self._begun.add(run.generation)
            self._prune()
        elif run.ended is None:
            # After a power cut an older state of the run may be there, never a torn one.
            return
        self._writer.settle()

    def runs(self, newest: int | None = None) -> tuple[Run, ...]:
        """Return the newest runs, newest first; one that cannot be read is named in `damages`."""
        damages: list[CheckpointError | StorageError] = []
        found: list[Run] = []
        for run in self._newest_first(damages, newest):
            found.append(run)
            if len(found) == newest:
                break
        self.damages = tuple(damages)
        return tuple(found)

    def newest_where(self, wanted: Callable[[Run], bool]) -> Run | None:
        """Return the newest run that is wanted, None where there is none; mostly the first is.

        Records above it that cannot be read are in `damages`.
        """
        damages: list[CheckpointError | StorageError] = []
        found = next(filter(wanted, self._newest_first(damages, _AT_ONCE)), None)
        self.damages = tuple(damages)
        return found

    def newest_generation(self) -> int:
        """Return the generation of the newest recorded run, 0 where there is none."""
        return max(generations_of_runs(self._reader.names()), default=0)

    def newest_delivering(self, query_id: str | None) -> Run | None:
        """Return the newest run that knows a delivered batch, None where no record knows one.

        Without a query id any query counts: the checkpoint that it was in may be gone. Batches that
        a plan took back since do not count.
        """
        return self.newest_where(
            lambda one: self.left_of(one) is not None and query_id in (None, one.query_id)
        )

    def newest_batch(self, query_id: str | None) -> int | None:
        """Return the newest batch that a recorded run delivered, None where no record knows one."""
        run = self.newest_delivering(query_id)
        return None if run is None else self.left_of(run)

    def left_of(self, run: Run) -> int | None:
        """Return the newest batch of a run that no plan took back since."""
        return self._rewinds.left_of(run.query_id, run.generation, run.newest_delivered)

    def _newest_first(
        self, damages: list[CheckpointError | StorageError], at_once: int | None
    ) -> Iterator[Run]:
        generations = generations_of_runs(self._reader.names())
        size = at_once or len(generations) or 1
        for start in range(0, len(generations), size):
            names = [run_name(one) for one in generations[start : start + size]]
            content = self._reader.read_many(names)
            for name in names:
                run = self._decoded(name, content[name])
                if isinstance(run, Run):
                    yield run
                elif not isinstance(run, NotFoundError):
                    damages.append(run)

    def _decoded(
        self, name: str, content: bytes | StorageError
    ) -> Run | CheckpointError | StorageError:
        if isinstance(content, StorageError):
            return content
        at = f"{self._reader.location}/{name}"
        try:
            run = decode_run(content)
        except UnreadableError as error:
            return CheckpointError("HF2603", f"the run record cannot be read: {error}", at=at)
        if run_name(run.generation) != name:
            message = f"the run record belongs to another run: generation {run.generation}"
            return CheckpointError("HF2603", message, at=at)
        return run

    def _prune(self) -> None:
        names = self._reader.names()
        outlived = generations_of_runs(names)[KEPT_RUNS:]
        old = map(run_name, outlived)
        self.failure = prune(self._writer, names, old, lambda: self._folder.place("runs"))


def run_name(generation: int) -> str:
    """Name the record of a run."""
    return f"{generation:010d}.json"


def generations_of_runs(names: Iterable[str]) -> tuple[int, ...]:
    """Return the generation of every record, the newest first."""
    found = (_NAME.fullmatch(name) for name in names)
    return tuple(sorted((int(match[1]) for match in found if match), reverse=True))
