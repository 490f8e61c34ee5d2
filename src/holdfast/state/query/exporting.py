"""Writes rows to a file, whole or not at all: Parquet, CSV or JSON lines, batch by batch."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from holdfast.errors import HoldfastError, UsageError
from holdfast.format.buffers import arrow_bits
from holdfast.format.rows.types import spark_type
from holdfast.state.columns import RowColumn, leaf_columns
from holdfast.state.query.values import plain_rows, plain_values
from holdfast.state.results import WrittenFile
from holdfast.storage.local import is_inside
from holdfast.storage.localwriter import publish_new
from holdfast.storage.location import shown_path

FORMATS = ("parquet", "csv", "jsonl")
_json_text = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode


class _RowWriter(Protocol):
    """Takes batches one by one."""

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write one batch."""

    def close(self) -> None:
        """Write what is left."""


def output_format(path: Path) -> str:
    """Return the format by the file's extension; refuse an unknown one."""
    ending = path.suffix.lower().removeprefix(".")
    if ending not in FORMATS:
        named = (
            f".{ending} is not a supported format" if ending else "the file name has no extension"
        )
        raise UsageError("HF2773", named, at=shown_path(str(path)))
    return ending


def refuse_bad_output(path: Path, checkpoint: Path | None, *, force: bool) -> None:
    """Refuse a place inside of the checkpoint, without a folder, or where something is already."""
    at = shown_path(str(path))
    folder = os.path.realpath(path.parent)
    if not os.access(folder, os.W_OK | os.X_OK) and Path(folder).is_dir():
        raise UsageError("HF1006", "the directory of the file cannot be written", at=at)
    if checkpoint is not None and is_inside(folder, os.path.realpath(checkpoint)):
        raise UsageError("HF1006", "the file would be inside the checkpoint", at=at)
    if not Path(folder).is_dir():
        raise UsageError("HF1006", "the directory of the file does not exist", at=at)
    if path.is_dir():
        raise UsageError("HF1006", "a directory with this name exists", at=at)
    if not force and os.path.lexists(path):
        raise _taken(path)


def write_rows(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, path: Path, *, force: bool = False
) -> WrittenFile:
    """Write all batches beside the file's place, then give them its name.

    Raise HF1005 where a file of that name is there, unless `force` replaces it.
    """
    form = output_format(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.partial")
    rows = 0
    with _translated(path):
        try:
            with _created(temporary, path) as file:
                with closing(_writer(form, file, schema)) as writer:
                    for batch in batches:
                        writer.write_batch(batch)
                        rows += len(batch)
                file.flush()
                os.fsync(file.fileno())
            size = temporary.stat().st_size
            if force:
                temporary.replace(path)
            else:
                publish_new(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    return WrittenFile(shown_path(str(path)), form, rows, size)


def _created(temporary: Path, path: Path) -> BinaryIO:
    """Open the file to write; a place at which none can be is the user's to correct."""
    try:
        return temporary.open("xb")
    except OSError as failure:
        reason = (failure.strerror or str(failure)).lower()
        message = f"the file cannot be created: {reason}"
        raise UsageError("HF1006", message, at=shown_path(str(path))) from failure


def _taken(path: Path) -> UsageError:
    return UsageError("HF1005", "the output file exists", at=shown_path(str(path)))


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except FileExistsError as failure:
        raise _taken(path) from failure
    except OSError as failure:
        reason = (failure.strerror or str(failure)).lower()
        message = f"the rows cannot be written: {reason}"
        raise HoldfastError("HF2774", message, at=shown_path(str(path))) from failure
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid) as failure:
        message = f"the rows cannot be written as {path.suffix.lower()}: {failure}"
        raise HoldfastError("HF2774", message, at=shown_path(str(path))) from failure


def _writer(form: str, file: BinaryIO, schema: pa.Schema) -> _RowWriter:
    if form == "parquet":
        writer: _RowWriter = pa.parquet.ParquetWriter(file, schema, compression="zstd")
        return writer
    return _CsvWriter(file, schema) if form == "csv" else _JsonWriter(file)


class _JsonWriter:
    """One JSON object a line."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write one line a row."""
        lines = [_json_text(row) for row in plain_rows(batch)]
        self._file.write("".join(f"{line}\n" for line in lines).encode())

    def close(self) -> None:
        """Nothing is left."""


class _CsvWriter:
    """One column for each that is no struct; lists and maps are JSON."""

    def __init__(self, file: BinaryIO, schema: pa.Schema) -> None:
        self._columns = leaf_columns(schema)
        fields = [(one.name, _csv_type(one.field)) for one in self._columns]
        self._schema = pa.schema(fields)
        self._writer = pa.csv.CSVWriter(file, self._schema)

    def write_batch(self, batch: pa.RecordBatch) -> None:
        """Write one line a row."""
        columns = [_csv_values(one, batch) for one in self._columns]
        self._writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=self._schema))

    def close(self) -> None:
        """Write what is left."""
        self._writer.close()


def _csv_type(field: pa.Field) -> pa.DataType:
    kind = field.type
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    plain = pa.types.is_boolean(kind) or (number and spark_type(field) is None)
    return kind if plain else pa.string()


def _csv_values(column: RowColumn, batch: pa.RecordBatch) -> pa.Array:
    values = column.values(batch)
    if _csv_type(column.field) == values.type and not pa.types.is_string(values.type):
        return values
    plain = plain_values(values, column.field)
    nested = pa.types.is_nested(values.type)
    texts = [_json_text(one) if nested and one is not None else one for one in plain]
    return _text_array([None if one is None else str(one).encode() for one in texts])


def _text_array(texts: list[bytes | None]) -> pa.Array:
    lengths = [0, *(0 if one is None else len(one) for one in texts)]
    ends = pa.py_buffer(np.cumsum(lengths, dtype=np.int32))
    valid = arrow_bits(np.array([one is not None for one in texts], np.bool_))
    data = pa.py_buffer(b"".join(one for one in texts if one is not None))
    return pa.Array.from_buffers(pa.string(), len(texts), [valid, ends, data])
