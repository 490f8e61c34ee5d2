"""Writes batches as files: each one exactly once, for readers that just list the folder.

The rows are staged beside the output. A manifest that is created once commits them; publishing
moves the files into the output, and rolls forward from the manifest after a crash.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql.types import AtomicType, DataType, StructType

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink, spark_path
from holdfast.ledgers.files.commit import sink_errors
from holdfast.ledgers.files.format import Manifest, ManifestFile
from holdfast.ledgers.files.held import HeldFiles
from holdfast.ledgers.files.output import FileOutput, below, file_prefix, is_hidden
from holdfast.ledgers.identity import BatchIdentity
from holdfast.ledgers.sparkfilesink import LOG_FOLDER
from holdfast.records.moments import moment_now
from holdfast.spark.sinks.rowchecks import check_columns
from holdfast.spark.sinks.sink import Delivery, skip

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


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
        message = f"{sink.format} cannot store {', '.join(bad)}"
        step = "cast the column in the transform, or use parquet or delta"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))


def check_partitions(schema: StructType, sink: ReadySink) -> None:
    """Refuse a partitioning that leaves no column for the files, or that hides its folders."""
    hidden = [name for name in sink.partition_by if name.startswith((".", "_"))]
    if hidden:
        message = f"partition_by names {', '.join(hidden)}: readers skip such directories"
        step = "give the column a name that begins with neither a dot nor an underscore"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))
    if sink.partition_by and set(schema.fieldNames()) == set(sink.partition_by):
        message = "partition_by names every column: no column is left for the files"
        step = "leave at least one column out of `partition_by`"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))
    nested = [name for name in sink.partition_by if not _is_plain(schema[name].dataType)]
    if nested:
        message = f"partition_by names {', '.join(nested)}, whose values cannot be part of a path"
        step = "name columns of plain types in `partition_by`"
        raise SinkError("HF5005", message, at=sink.at, next_steps=(step,))


def check_same(schema: StructType, sink: ReadySink, known: Manifest) -> None:
    """Refuse rows or a declaration other than those of the batches that are there."""
    reported = [
        *_declared("format", sink.format, known.format),
        *_declared("mode", sink.mode, known.mode),
        *_declared("partition_by", _names(sink.partition_by), _names(known.partition_by)),
        *_columns(schema, StructType.fromJson(dict(known.schema)), sink.format),
    ]
    if reported:
        message = f"the rows do not fit the existing batches: {'; '.join(reported)}"
        steps = (
            "return the same columns as before from the transform, and declare the sink as before",
            "or name a new, empty directory and accept it: holdfast run JOB --accept empty-sink",
        )
        raise SinkError("HF5005", message, at=sink.at, next_steps=steps)


def check_folder(names: Collection[str], sink: ReadySink, shown: str, *, known: bool) -> None:
    """Refuse a folder with names that are not the sink's own."""
    if LOG_FOLDER in names:
        raise SinkError("HF5020", f"{shown} contains {LOG_FOLDER}", at=sink.at)
    folders = tuple(f"{_escaped(column)}=" for column in sink.partition_by)
    ours = {name for name in names if _OURS.fullmatch(name) or name.startswith(folders)}
    strange = sorted(
        name
        for name in names
        if name == _DELTA_LOG or not (is_hidden(name) or (known and name in ours))
    )
    if not strange:
        return
    message = f"{shown} contains files that no manifest lists: {', '.join(strange[:3])}"
    steps: tuple[str, ...] | None = None
    if ours and not known:
        parent, _, name = shown.rstrip("/").rpartition("/")
        steps = (
            f"if the output was moved here, or its manifests were removed: put the folder "
            f"{parent}/.holdfast/{name} back, which was next to the output",
            "otherwise give the sink a directory of its own",
        )
    raise SinkError("HF5006", message, at=sink.at, next_steps=steps)


def _is_plain(kind: DataType) -> bool:
    return isinstance(kind, AtomicType) and kind.typeName() != "variant"


def _declared(what: str, given: str, there: str) -> Iterator[str]:
    if given != there:
        yield f"{what} is {given}, existing {there}"


def _columns(rows: StructType, there: StructType, file_format: str) -> Iterator[str]:
    had = {field.name: field.dataType.simpleString() for field in there.fields}
    has = {field.name: field.dataType.simpleString() for field in rows.fields}
    for name in has.keys() - had.keys():
        yield f"{name} is new"
    for name in had.keys() - has.keys():
        yield f"{name} is missing"
    for name in [name for name in has if name in had and has[name] != had[name]]:
        yield f"{name} is {has[name]}, existing {had[name]}"
    if file_format == "csv" and has.keys() == had.keys() and list(has) != list(had):
        yield f"the columns are in a different order, existing {', '.join(had)}"


def _names(columns: tuple[str, ...]) -> str:
    return ", ".join(columns) or "nothing"


def _escaped(column: str) -> str:
    """Spell a column's name as Spark does in the name of a folder, as far as `%` goes."""
    return "".join(_ESCAPES.get(character, character) for character in column)


_ESCAPES = {
    character: f"%{ord(character):02X}"
    for character in (*map(chr, range(1, 32)), *"\"#%'*/:=?\\\x7f{[]^")
}


_COMMITTER = {
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
}
# On local folders Hadoop would write a checksum beside every file, and the manifest has one. Not
# elsewhere: a client of S3 buffers on the disk, and takes Hadoop's own local file system for given.
_WITHOUT_CHECKSUMS = {
    "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
    "fs.file.impl.disable.cache": "true",
}
_CHUNK = 1 << 20


def stage(
    batch: DataFrame, identity: BatchIdentity, sink: ReadySink, output: FileOutput, folder: str
) -> Manifest:
    """Write the batch's rows to a staging folder of its own, and describe what it holds."""
    _write(batch, sink, output, folder)
    files = _files(sink, output, folder, identity)
    return Manifest(
        query_id=identity.query_id,
        batch_id=identity.batch_id,
        generation=identity.generation,
        offsets_digest=identity.offsets_digest,
        format=sink.format,
        mode=sink.mode,
        partition_by=sink.partition_by,
        schema=batch.schema.jsonValue(),
        rows=_total([rows for _, rows in files], sink.format),
        written_at=moment_now(),
        staging=folder.rpartition("/")[2],
        files=tuple(file for file, _ in files),
    )


def _write(batch: DataFrame, sink: ReadySink, output: FileOutput, folder: str) -> None:
    of_place = _WITHOUT_CHECKSUMS if output.around.is_local else {}
    options = {**sink.options, **_COMMITTER, **of_place}
    writer = batch.write.format(sink.format).options(**options)
    if sink.partition_by:
        writer = writer.partitionBy(*sink.partition_by)
    writer.save(spark_path(below(output.around, folder), sink.settings))


def _files(
    sink: ReadySink, output: FileOutput, folder: str, identity: BatchIdentity
) -> list[tuple[ManifestFile, int | None]]:
    """Describe what is published; in mode complete everything else is removed from the folder."""
    files = []
    output.writer.make_folder(folder)
    for path, item in sorted(output.files_in(folder).items()):
        place = f"{folder}/{path}"
        if is_hidden(path):
            output.writer.remove(place)
            continue
        real = Path(below(output.around, place).url) if output.around.is_local else None
        rows = None if real is None else _rows(sink.format, real)
        if sink.mode == "append" and (not item.size or rows == 0):
            continue
        final = path if sink.mode == "complete" else _final(path, identity)
        digest = None if real is None else _digest(real)
        files.append((ManifestFile(final, path, item.size, digest), rows))
    return files


def _final(path: str, identity: BatchIdentity) -> str:
    """Name a file so that no two batches ever collide, and a person sees which one it is of."""
    folder, slash, name = path.rpartition("/")
    query = file_prefix(identity.query_id)
    return f"{folder}{slash}{query}-{identity.batch_id:010d}-{name}"


def _rows(file_format: str, path: Path) -> int | None:
    """Read from a file's end how many rows it holds, where the format tells."""
    if file_format == "parquet":
        from pyarrow import parquet

        return int(parquet.read_metadata(path).num_rows)
    if file_format == "orc" and path.stat().st_size:
        from pyarrow import orc

        return int(orc.ORCFile(path).nrows)
    return 0 if file_format == "orc" else None


def _total(rows: list[int | None], file_format: str) -> int | None:
    counted = [one for one in rows if one is not None]
    known = file_format in ("parquet", "orc") and len(counted) == len(rows)
    return sum(counted) if known else None


def _digest(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


class FileBatchSink(HeldFiles):
    """A folder of files that takes the batches of one job."""

    promise = (
        "exactly once for readers that list the directory. A committed batch is "
        "skipped; the same batch id with different offsets stops the job. While a batch is "
        "published, such a reader may see a part of it"
    )

    def __init__(self, session: SparkSession, sink: ReadySink, output: FileOutput) -> None:
        super().__init__(output, sink.format)
        self._session = session
        self._sink = sink

    def prepare(self, schema: StructType, *, begun: bool) -> None:  # noqa: ARG002 - staging hides
        """Refuse rows that the files can't hold, and a folder that is not the sink's own."""
        check_columns(schema, self._sink)
        check_partitions(schema, self._sink)
        check_types(self._session, schema, self._sink)
        self._output.refuse_unwritable()
        self._output.refuse_unshared()
        with sink_errors(str(self.identity)):
            names = self._output.reader.names(self._output.name)
        is_ours = self._commits.look()
        self._check_same(schema)
        check_folder(names, self._sink, str(self.identity), known=is_ours)

    def write(self, batch: DataFrame, identity: BatchIdentity) -> Delivery:
        """Stage the rows, commit them by one manifest, publish them; or skip the batch."""

        def staged(folder: str) -> Manifest:
            self._check_same(batch.schema)
            return stage(batch, identity, self._sink, self._output, folder)

        committed = self._commits.deliver(identity, staged)
        if not committed.was_staged:
            return skip(batch)
        return Delivery(skipped=committed.skipped, rows=committed.rows)

    def _check_same(self, schema: StructType) -> None:
        if self._commits.known is not None:
            check_same(schema, self._sink, self._commits.known)
