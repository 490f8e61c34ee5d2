"""One checkpoint, opened by a program: its state as Arrow, if the libraries are installed."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, ClassVar

from holdfast.answers import OneLine, in_python
from holdfast.errors import UsageError
from holdfast.state.options import MEMORY_BYTES, Key
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.state.frames import StateReader


@dataclass(frozen=True, repr=False)
class OpenedCheckpoint(OneLine):
    """A checkpoint that can be read, and is never written to."""

    SHOWN: ClassVar = ("location",)

    reader: Reader

    @property
    def location(self) -> str:
        """Where it is, without secrets."""
        return self.reader.location

    @in_python
    def state(
        self,
        *,
        operator: int | None = None,
        store: str | None = None,
        batch: int | None = None,
        partition: int | None = None,
        key: Key | None = None,
        where: str | None = None,
        memory_bytes: int = MEMORY_BYTES,
    ) -> StateReader:
        """Return the rows of one store as an Arrow reader, which reads while it is read from.

        `to_pandas()`, `to_polars()` and `to_arrow()` of it return all rows as a table. By default
        the first operator's first store at the newest committed batch. Raises HoldfastError, here
        and while rows are read.
        """

        require_state_extra()
        import pyarrow as pa

        from holdfast.checkpoint.reading import read_picture
        from holdfast.state.frames import StateReader
        from holdfast.state.query.question import Question, open_question

        question = Question(operator, store, batch, partition, key, where, memory_bytes)
        asked = open_question(self.reader, read_picture(self.reader), question)
        rows = pa.RecordBatchReader.from_batches(asked.view.schema, asked.batches())
        return StateReader(rows)


_NEEDED = ("numpy", "pyarrow", "rocksdict", "xxhash")


def require_state_extra() -> None:
    """Raise HF2770 where a library is missing that reading state needs."""
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        verb = "is" if len(missing) == 1 else "are"
        message = f"reading state requires {', '.join(missing)}, which {verb} not installed"
        raise UsageError("HF2770", message)
