"""Asks Delta for what is no batch: closing, restoring, deleting, each with a note of Holdfast."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.ledgers.delta.batches import FORMAT
from holdfast.spark.sinks.keys import quoted

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Note = Mapping[str, object]

_USER_METADATA = "spark.databricks.delta.commitInfo.userMetadata"


class TableCommands:
    """Commands on one table; each raises what Spark raises."""

    def __init__(self, session: SparkSession, path: str) -> None:
        self._session = session
        self._path = path

    def commit_nothing(self, app_id: str, version: int, note: Note) -> None:
        """Commit an identifier and no row; Delta skips it if the table holds it already."""
        columns = self._session.read.format("delta").load(self._path).schema
        nothing = self._session.createDataFrame([], columns)
        writer = nothing.write.format("delta").mode("append").option("userMetadata", _text(note))
        writer.option("txnAppId", app_id).option("txnVersion", str(version)).save(self._path)

    def restore(self, version: int, note: Note) -> None:
        """Make the table what it was at this version."""
        with self._noting(note):
            self._table().restoreToVersion(version)

    def delete_all(self, note: Note) -> None:
        """Delete every row; Delta commits nothing where there is none."""
        with self._noting(note):
            self._table().delete()

    def is_append_only(self) -> bool:
        """Tell whether the table is set to refuse what takes rows away."""
        detail = self._session.sql(f"describe detail delta.{quoted(self._path)}").collect()[0]
        return str(detail["properties"].get("delta.appendOnly", "")).lower() == "true"

    def why_not_restorable(self, version: int) -> str | None:
        """Tell why a version can't be restored; None where all that it needs is there."""
        reader = self._session.read.format("delta")
        try:
            then = reader.option("versionAsOf", version).load(self._path).inputFiles()
        except (Py4JError, PySparkException):
            return "the table's log does not tell it any more"
        now = self._session.read.format("delta").load(self._path).inputFiles()
        missing = [file for file in set(then).difference(now) if not self._is_there(file)]
        if missing:
            return f"{len(missing)} of its files are gone"
        return None

    def _is_there(self, file: str) -> bool:
        context: Any = self._session.sparkContext
        path = context._jvm.org.apache.hadoop.fs.Path(file)
        settings = self._session._jsparkSession.sessionState().newHadoopConf()
        return bool(path.getFileSystem(settings).exists(path))

    def _table(self) -> Any:
        machine: Any = self._session.sparkContext._jvm
        return machine.io.delta.tables.DeltaTable.forPath(self._session._jsparkSession, self._path)

    @contextmanager
    def _noting(self, note: Note) -> Iterator[None]:
        self._session.conf.set(_USER_METADATA, _text(note))
        try:
            yield
        finally:
            self._session.conf.unset(_USER_METADATA)


def _text(note: Note) -> str:
    return json.dumps({"holdfast": FORMAT, **note})
