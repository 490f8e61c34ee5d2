"""Judges whether rows, and a folder, fit a file sink, before anything is written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from pyspark.sql.types import AtomicType, DataType, StructType

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.files.manifest import Manifest
from holdfast.ledgers.files.output import is_hidden
from holdfast.ledgers.sparkfilesink import LOG_FOLDER

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_FORMATS = "org.apache.spark.sql.execution.datasources"
_CLASSES = {
    "parquet": "parquet.ParquetFileFormat",
    "csv": "csv.CSVFileFormat",
    "json": "json.JsonFileFormat",
    "orc": "orc.OrcFileFormat",
}
FILE_FORMATS = tuple(_CLASSES)
_OURS = re.compile(r".+-\d{10,}-part-\d{5,}-.+|part-\d{5,}-[0-9a-f-]{36}.+")
_DELTA_LOG = "_delta_log"


def check_types(session: SparkSession, schema: StructType, sink: ReadySink) -> None:
    """Refuse columns whose type the format can't hold, as Spark itself tells."""
    jvm = session._jvm
    assert jvm is not None
    of_java = getattr(jvm, f"{_FORMATS}.{_CLASSES[sink.format]}")()
    parse = jvm.org.apache.spark.sql.types.DataType.fromJson
    bad = [
        f"{field.name} ({field.dataType.simpleString()})"
        for field in schema.fields
        if field.name not in sink.partition_by
        and not of_java.supportDataType(parse(field.dataType.json()))
    ]
    if bad:
        message = f"{sink.format} can't hold {', '.join(bad)}"
        step = "cast the column in the transform, or use parquet or delta"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))


def check_partitions(schema: StructType, sink: ReadySink) -> None:
    """Refuse a partitioning that leaves no column for the files, or that hides its folders."""
    hidden = [name for name in sink.partition_by if name.startswith((".", "_"))]
    if hidden:
        message = f"partition_by names {', '.join(hidden)}: readers pass over such folders"
        step = "give the column a name that begins with neither a dot nor an underscore"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))
    if sink.partition_by and set(schema.fieldNames()) == set(sink.partition_by):
        message = "partition_by names every column: nothing is left for the files"
        step = "leave at least one column out of `partition_by`"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))
    nested = [name for name in sink.partition_by if not _is_plain(schema[name].dataType)]
    if nested:
        message = f"partition_by names {', '.join(nested)}, whose values can't stand in a path"
        step = "name columns of plain types in `partition_by`"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))


def check_same(schema: StructType, sink: ReadySink, known: Manifest) -> None:
    """Refuse rows or a declaration other than those of the batches that are there."""
    told = [
        *_declared("format", sink.format, known.format),
        *_declared("mode", sink.mode, known.mode),
        *_declared("partition_by", _names(sink.partition_by), _names(known.partition_by)),
        *_columns(schema, StructType.fromJson(dict(known.schema)), sink.format),
    ]
    if told:
        message = f"the rows do not fit the batches that are there: {'; '.join(told)}"
        steps = (
            "let the transform give the columns of before, and declare the sink as before",
            "or name a new, empty folder and accept it: holdfast run JOB --accept empty-sink",
        )
        raise SinkError("HF5005", message, at=sink.at, next_steps=steps)


def check_folder(names: Collection[str], sink: ReadySink, shown: str, *, known: bool) -> None:
    """Refuse a folder with names that are not the sink's own."""
    if LOG_FOLDER in names:
        raise SinkError("HF5020", f"{shown} holds {LOG_FOLDER}", at=sink.at)
    folders = tuple(f"{_escaped(column)}=" for column in sink.partition_by)
    ours = {name for name in names if _OURS.fullmatch(name) or name.startswith(folders)}
    strange = sorted(
        name
        for name in names
        if name == _DELTA_LOG or not (is_hidden(name) or (known and name in ours))
    )
    if not strange:
        return
    message = f"{shown} holds what no manifest knows: {', '.join(strange[:3])}"
    steps: tuple[str, ...] | None = None
    if ours and not known:
        parent, _, name = shown.rstrip("/").rpartition("/")
        steps = (
            f"if the output was moved here, or its manifests were removed: put the folder "
            f"{parent}/.holdfast/{name} back, which lay beside the output",
            "otherwise give the sink a folder of its own",
        )
    raise SinkError("HF5006", message, at=sink.at, next_steps=steps)


def _is_plain(kind: DataType) -> bool:
    return isinstance(kind, AtomicType) and kind.typeName() != "variant"


def _declared(what: str, given: str, there: str) -> Iterator[str]:
    if given != there:
        yield f"{what} is {given}, there {there}"


def _columns(rows: StructType, there: StructType, file_format: str) -> Iterator[str]:
    had = {field.name: field.dataType.simpleString() for field in there.fields}
    has = {field.name: field.dataType.simpleString() for field in rows.fields}
    for name in has.keys() - had.keys():
        yield f"{name} is new"
    for name in had.keys() - has.keys():
        yield f"{name} is missing"
    for name in [name for name in has if name in had and has[name] != had[name]]:
        yield f"{name} is {has[name]}, there {had[name]}"
    if file_format == "csv" and has.keys() == had.keys() and list(has) != list(had):
        yield f"the columns are in another order, there {', '.join(had)}"


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(columns) or "nothing"


def _escaped(column: str) -> str:
    """Spell a column's name as Spark does in the name of a folder, as far as `%` goes."""
    return "".join(_ESCAPES.get(character, character) for character in column)


_ESCAPES = {
    character: f"%{ord(character):02X}"
    for character in (*map(chr, range(1, 32)), *"\"#%'*/:=?\\\x7f{[]^")
}
