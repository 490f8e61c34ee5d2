"""A real writer that fails when it is told to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from holdfast.errors import StorageError
from holdfast.storage.location import Location
from holdfast.storage.opening import open_writer
from holdfast.storage.options import StorageSettings
from holdfast.storage.writing import Writer


@dataclass
class Failing:
    """Writes through another writer; what is set fails, or happens, first."""

    writer: Writer
    failing_beats: int = 0
    """How many of the next replacements fail."""
    no_removal: bool = False
    before_claim: Callable[[], object] | None = None
    before_beat: Callable[[], object] | None = None

    @staticmethod
    def opener(
        made: list[Failing] | None = None,
        *,
        failing_beats: int = 0,
        no_removal: bool = False,
        before_claim: Callable[[], object] | None = None,
    ) -> Callable[[Location, StorageSettings], Writer]:
        """Open failing writers, and put each into `made`."""

        def opened(location: Location, settings: StorageSettings) -> Writer:
            writer = open_writer(location, settings)
            failing = Failing(writer, failing_beats, no_removal, before_claim)
            if made is not None:
                made.append(failing)
            return failing

        return opened

    @property
    def location(self) -> str:
        return self.writer.location

    def create(self, path: str, chunks: Iterable[bytes]) -> bool:
        if self.before_claim is not None:
            act, self.before_claim = self.before_claim, None
            act()
        return self.writer.create(path, chunks)

    def replace(self, path: str, chunks: Iterable[bytes]) -> None:
        if self.before_beat is not None:
            self.before_beat()
        if self.failing_beats:
            self.failing_beats -= 1
            raise StorageError("HF7015", "ordered", at=self.location)
        self.writer.replace(path, chunks)

    def remove(self, path: str) -> None:
        if self.no_removal:
            raise StorageError("HF7015", "ordered", at=self.location)
        self.writer.remove(path)

    def make_folder(self, path: str) -> None:
        self.writer.make_folder(path)

    def remove_folder(self, path: str) -> None:
        self.writer.remove_folder(path)

    def settle(self) -> None:
        self.writer.settle()

    def move(self, source: str, target: str) -> None:
        self.writer.move(source, target)

    def move_folder(self, source: str, target: str) -> None:
        self.writer.move_folder(source, target)

    def flush(self, path: str) -> None:
        self.writer.flush(path)
