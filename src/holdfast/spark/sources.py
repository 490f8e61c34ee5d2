"""Loads the sources of a job as streams; what Spark refuses is told with the place declaring it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException

from holdfast.errors import SourceError
from holdfast.jobs.ready import ReadyJob, ReadySource
from holdfast.redaction import redact
from holdfast.spark.sparkwords import SparkWords, spark_words

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_CODES = {
    "PATH_NOT_FOUND": "HF5101",
    "DATA_SOURCE_NOT_FOUND": "HF5103",
    "UNABLE_TO_INFER_SCHEMA": "HF5104",
    "DELTA_MISSING_DELTA_TABLE": "HF5105",
    "DELTA_PATH_DOES_NOT_EXIST": "HF5105",
    "DELTA_SCHEMA_NOT_SET": "HF5105",
    "DELTA_TABLE_NOT_FOUND": "HF5105",
}
"""What an error class of Spark means for a source."""
_PHRASES = {
    "Schema must be specified when creating a streaming source": "HF5104",
    "Failed to find data source": "HF5103",
    "does not support streamed reading": "HF5103",
}
"""The same for errors that Spark gives no class."""
_REFUSED = "HF5106"
_DENIED = re.compile(
    r"AccessDenied|AccessControlException|\(?Permission denied|Status Code: 403|\b403 Forbidden\b"
)
"""How file systems, HDFS and object stores say that a user has no access."""


def load_sources(session: SparkSession, job: ReadyJob) -> dict[str, DataFrame]:
    """Give a streaming DataFrame for each source of a job, by its name."""
    return {source.name: _load(session, source) for source in job.sources}


def _load(session: SparkSession, source: ReadySource) -> DataFrame:
    reader = session.readStream.format(source.format).options(**source.options)
    if source.schema is not None:
        try:
            reader = reader.schema(source.schema)
        except PySparkException as error:
            raise _told(error, "HF5102", source) from error
    try:
        return reader.load(source.path) if source.path is not None else reader.load()
    except (PySparkException, Py4JError) as error:
        raise _told(error, _code(spark_words(error), str(error)), source) from error


def _code(words: SparkWords, text: str) -> str:
    if _DENIED.search(text):
        return "HF5107"
    phrases = (code for phrase, code in _PHRASES.items() if phrase in words.sentence)
    return _CODES.get((words.condition or "").partition(".")[0]) or next(phrases, _REFUSED)


def _told(error: Exception, code: str, source: ReadySource) -> SourceError:
    words = spark_words(error)
    path = source.path or source.options.get("path")
    causes = {
        "HF5101": f"there is nothing at {path}",
        "HF5102": f"its schema can't be read: {words.sentence}",
        "HF5103": f"Spark can't stream the format {source.format}",
        "HF5104": f"a {source.format} source needs a schema, and has none under schema:",
        "HF5105": f"there is no Delta table at {path}",
        "HF5107": f"it can't be read: {words.sentence.rpartition('Exception: ')[2]}",
    }
    cause = causes.get(code, f"Spark refuses it: {words.shown}")
    # The only source of a job is named `source` unless the project file names it.
    named = "source" if source.name == "source" else f"source {source.name}"
    message = redact(f"{named}: {cause}")
    return SourceError(code, message, at=source.at, trace=redact(str(error)))
