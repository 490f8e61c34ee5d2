"""Stages a batch: Spark writes its files beside the output, and each one becomes known by size.

Only tasks that won leave files: Spark's committer moves them together when the job is over, and
the older algorithm is asked for, because the newer one lets a failed attempt's files stay.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.jobs.ready import ReadySink
from holdfast.jobs.sparkpath import spark_path
from holdfast.ledgers.files.manifest import Manifest, ManifestFile
from holdfast.ledgers.files.output import FileOutput, below, folder_name, is_hidden
from holdfast.ledgers.identity import BatchIdentity
from holdfast.records.moments import moment_now

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

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
    query = folder_name(identity.query_id).replace("%", "-").lstrip(".-_")[:8]
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
