"""One checkpoint, opened by a program: its state as tables of Arrow, pandas and Polars."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from holdfast.answers import Answer, OneLine, in_python
from holdfast.errors import UsageError
from holdfast.state.results import MEMORY_BYTES, Key, StateRows
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow as pa


_INSTALLS = {"pandas": 'pip install "pandas<3"', "polars": "pip install polars"}


class Frames(ABC):
    """Rows that become a table of whichever library a program works with."""

    @abstractmethod
    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table; keys and values are structs."""

    def to_pandas(self) -> pandas.DataFrame:
        """Return the rows as a pandas DataFrame, with a column for each field: `key.shop`."""
        _require("pandas")
        return _flat(self.to_arrow()).to_pandas()

    def to_polars(self) -> polars.DataFrame:
        """Return the rows as a Polars DataFrame, with a column for each field: `key.shop`."""
        _require("polars")
        import polars

        frame = polars.from_arrow(_flat(self.to_arrow()))
        assert isinstance(frame, polars.DataFrame)
        return frame


class StateReader(Frames):
    """Rows that are read from the checkpoint on demand, once.

    DuckDB, Polars and other programs that know Arrow streams take it as it is.
    """

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        self.reader = reader
        """Arrow's own reader of the same rows."""

    @property
    def schema(self) -> pa.Schema:
        """The columns; known before a row is read."""
        return self.reader.schema

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows, batch by batch. Raises HoldfastError."""
        return iter(self.reader)

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        """Hand the rows over to another library, as Arrow's PyCapsule interface says."""
        return self.reader.__arrow_c_stream__(requested_schema)

    def read_next_batch(self) -> pa.RecordBatch:
        """Return the next rows; raise StopIteration at the end."""
        return self.reader.read_next_batch()

    def read_all(self) -> pa.Table:
        """Return all rows that are left as one table."""
        return self.reader.read_all()

    def to_arrow(self) -> pa.Table:
        """Return all rows that are left as an Arrow table; keys and values are structs."""
        return self.reader.read_all()


@dataclass(frozen=True, repr=False)
class StateAnswer(Answer[StateRows], Frames):
    """The answer of `read_state`; its tables have all rows that fit, up to a `limit` if given."""

    table: Callable[[], pa.Table] | None = field(default=None, repr=False, compare=False)
    """Reads the rows; None where they were written to a file or summed up."""

    def to_arrow(self) -> pa.Table:
        """Return the rows as an Arrow table; keys and values are structs."""
        if self.table is None:
            message = "the result has no rows: they were written to a file, or summarized"
            steps = ("leave out output and summary, or read the file that was written",)
            raise UsageError("HF1001", message, next_steps=steps)
        return self.table()


def _require(library: str) -> None:
    if find_spec(library) is None:
        message = f"to_{library}() requires {library}, which is not installed"
        why = f"Holdfast reads state without {library}; only this conversion needs it"
        raise UsageError("HF2770", message, why=why, next_steps=(_INSTALLS[library],))


def _flat(table: pa.Table) -> pa.Table:
    """Return the fields inside of structs as columns by their full names."""
    import pyarrow as pa

    from holdfast.state.columns import leaf_columns

    leaves = leaf_columns(table.schema)
    columns = [
        pa.chunked_array([leaf.values(batch) for batch in table.to_batches()], leaf.field.type)
        for leaf in leaves
    ]
    return pa.Table.from_arrays(columns, names=[leaf.name for leaf in leaves])


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
        from holdfast.state.query.question import Question, open_question

        question = Question(
            operator=operator,
            store=store,
            batch=batch,
            partition=partition,
            key=key,
            where=where,
            memory_bytes=memory_bytes,
        )
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
