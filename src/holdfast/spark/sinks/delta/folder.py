"""Looks into a folder that is to become a Delta table: what lies there that is not the sink's?"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.errors import NotFoundError
from holdfast.jobs.ready import ReadySink
from holdfast.ledgers.delta.transactions import LOG_FOLDER
from holdfast.ledgers.sinksight import Contents
from holdfast.storage.reading import Reader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_DATA_FILE = re.compile(r"part-\d{5}-[0-9a-f-]{36}[-.].*")
_MOST_NAMED = 3


def contents_of_table(session: SparkSession, path: str | None) -> Contents:
    """Return whether a table has rows, as Spark reads it."""
    try:
        rows = session.read.format("delta").load(path)
        return Contents.EMPTY if rows.isEmpty() else Contents.ROWS
    except (Py4JError, PySparkException):
        # A table that can't be read must not pass for an empty one.
        return Contents.UNKNOWN


def strange_names(folder: Reader, sink: ReadySink, *, begun: bool) -> tuple[str, ...]:
    """Name what is not ours; data files without a log are, once a first batch broke off."""
    try:
        names = folder.names("")
    except NotFoundError:
        return ()
    strange = [name for name in names if not name.startswith(".")]
    if begun:
        strange = [name for name in strange if not _is_left_behind(name, sink)]
    return tuple(sorted(strange))[:_MOST_NAMED]


def _is_left_behind(name: str, sink: ReadySink) -> bool:
    folders = tuple(f"{column}=" for column in sink.partition_by)
    is_data = _DATA_FILE.fullmatch(name) is not None or name.startswith(folders)
    return is_data or name == LOG_FOLDER
