"""One checkpoint, opened by a program: its state as Arrow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.answers import in_python
from holdfast.state.bounds import MEMORY_BYTES
from holdfast.state.query.keytext import Key
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from holdfast.state.frames import StateReader


@dataclass(frozen=True)
class OpenedCheckpoint:
    """A checkpoint that can be read, and is never written to."""

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
        from holdfast.state.extras import require_state_extra

        require_state_extra()
        import pyarrow as pa

        from holdfast.checkpoint.reading import read_picture
        from holdfast.state.frames import StateReader
        from holdfast.state.query.asking import Question, open_question

        question = Question(operator, store, batch, partition, key, where, memory_bytes)
        asked = open_question(self.reader, read_picture(self.reader), question)
        rows = pa.RecordBatchReader.from_batches(asked.view.schema, asked.batches())
        return StateReader(rows)
