"""Lets another driver do something at a counted storage call of the first one, and goes on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path
from typing import Any

from holdfast.errors import SinkError
from holdfast.ledgers.files.commit import Committed, FileCommits
from holdfast.ledgers.files.format import Manifest
from holdfast.ledgers.files.output import FileOutput
from holdfast.storage.location import Location, parse_location
from holdfast.storage.opening import open_reader, open_writer
from holdfast.storage.options import StorageSettings
from holdfast.storage.reading import Reader
from holdfast.storage.writing import Writer
from tests.ledgers.files.test_manifests import Place, identity, local, stage_into


class KilledError(BaseException):
    """The process is gone: nothing of it catches this."""


class Calls:
    """Counts the storage calls of one driver; before the chosen one something happens."""

    def __init__(self, chosen: int, happens: Callable[[], None]) -> None:
        self._chosen = chosen
        self._happens = happens
        self.count = 0

    @property
    def survived(self) -> bool:
        """Whether the driver ended before the chosen call came."""
        return self.count < self._chosen

    def next(self) -> None:
        """Come to the next call."""
        self.count += 1
        if self.count == self._chosen:
            self._happens()


class Counted:
    """A reader or writer whose calls are counted."""

    def __init__(self, through: Reader | Writer, calls: Calls) -> None:
        self._through = through
        self._calls = calls

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._through, name)
        if not callable(found):
            return found

        def called(*given: Any, **named: Any) -> Any:
            self._calls.next()
            return found(*given, **named)

        return called


def driver_at(place: Place, calls: Calls) -> FileCommits:
    """Open the sink as a driver of its own whose calls are counted."""

    def writing(location: Location, settings: StorageSettings) -> Any:
        return Counted(open_writer(location, settings), calls)

    def reading(location: Location, settings: StorageSettings) -> Any:
        return Counted(open_reader(location, settings), calls)

    output = FileOutput(parse_location(place.url), place.settings, writing, reading, False)
    return FileCommits(output)


def delivered(commits: FileCommits, batch_id: int, *rows: str, generation: int = 1,
              mode: str = "append", digest: str = "d") -> Committed:  # fmt: skip
    """Deliver a batch with these rows."""
    one = identity(batch_id, digest, generation)

    def stage(folder: str) -> Manifest:
        return stage_into(commits.output, folder, one, *rows, mode=mode)

    return commits.deliver(one, stage)


def at_every_call(
    folder: Path,
    before: Callable[[Place], None],
    late: Callable[[FileCommits], object],
    other: Callable[[Place], None],
    judge: Callable[[Place], None],
    *,
    killed: bool = False,
    moments: Iterable[int] | None = None,
) -> int:
    """Try each storage call of `late` as the one before which `other` acts; return how many.

    `late` then goes on, or is killed. Errors of the sink end it: they must be HF5025. Of all calls
    only those in `moments` are tried, where these are given.
    """
    for chosen in moments if moments is not None else count(1):
        place = local(folder / f"{chosen}{'-killed' * killed}")
        before(place)

        def happens(place: Place = place) -> None:
            other(place)
            if killed:
                raise KilledError

        calls = Calls(chosen, happens)
        try:
            late(driver_at(place, calls))
        except KilledError:
            pass
        except SinkError as error:
            assert error.code.number == "HF5025", (chosen, error)
        if calls.survived:
            return calls.count
        judge(place)
    raise AssertionError("moments have no end")
