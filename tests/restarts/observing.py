"""Runs one damaged checkpoint through real Spark and says what was seen."""

import json
import shutil
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.restarts.archive import read_folder, write_folder
from tests.restarts.bases import Base
from tests.restarts.edits import Files, numbers
from tests.restarts.errors import Cause, chain_of, decisive
from tests.restarts.queries import Places, Sink, start

HANG_SECONDS = 30
_SINK_LOG = "../output/_spark_metadata"


def observe(spark: SparkSession, base: Base, places: Places, damaged: Files) -> dict[str, Any]:
    """Starts the query on damaged files and returns what it did; the folders are removed after."""
    write_folder(damaged, places.checkpoint, places.output)
    sink = Sink()
    chain, moment = _run(spark, base, places, sink)
    after = read_folder(places.checkpoint, places.output)
    if base.sink == "file":
        _fill_from_sink_log(sink, damaged, after)
    shutil.rmtree(places.checkpoint.parent)
    return _summary(sink, damaged, after, chain, moment)


def _run(
    spark: SparkSession, base: Base, places: Places, sink: Sink
) -> tuple[list[Cause] | None, str | None]:
    """The causes of the failure, none where all went well, and the moment of the failure."""
    try:
        query = start(spark, base, places, sink)
    except (PySparkException, Py4JError) as error:
        return chain_of(error), "start"
    try:
        if not query.awaitTermination(HANG_SECONDS):
            query.stop()
            return [], "hang"
    except (PySparkException, Py4JError) as error:
        return _chain_of_query(query, sink, error), "run"
    return None, None


def _chain_of_query(query: Any, sink: Sink, error: Exception) -> list[Cause]:
    if sink.error is not None:
        return chain_of(sink.error)
    failure = query._jsq.exception()
    return chain_of(failure.get() if failure.isDefined() else error)


def _fill_from_sink_log(sink: Sink, before: Files, after: Files) -> None:
    """A file sink calls no function: its log and the commits tell which batches it got."""
    logged = set(numbers(after, _SINK_LOG)) - set(numbers(before, _SINK_LOG))
    committed = set(numbers(after, "commits")) - set(numbers(before, "commits"))
    for number in sorted(logged | committed):
        sink.called.append(number)
        if number in logged:
            sink.delivered.append((number, _rows_of_entry(after[f"{_SINK_LOG}/{number}"])))


def _rows_of_entry(entry: bytes) -> list[str]:
    rows: list[str] = []
    for text in entry.split(b"\n")[1:]:
        file = Path(unquote(urlparse(json.loads(text)["path"]).path))
        rows += file.read_text().splitlines()
    return sorted(rows)


def _summary(
    sink: Sink, before: Files, after: Files, chain: list[Cause] | None, moment: str | None
) -> dict[str, Any]:
    planned = [n for n in numbers(after, "offsets") if n not in numbers(before, "offsets")]
    first = min([*sink.called[:1], *planned[:1]], default=None)
    cause = decisive(chain) if chain else None
    return {
        "action": _action(first, before, after, chain, moment),
        "batch_id": first,
        "sink_touched": bool(sink.called),
        "failed_at": moment,
        "error_class": cause and (cause.condition or cause.kind),
        "error": cause and cause.message,
        "causes": [cause.condition or cause.kind for cause in chain or []],
        "called": sink.called,
        "batches": [[number, rows] for number, rows in sink.delivered],
        "offsets_written": planned,
        "commits_written": [
            n for n in numbers(after, "commits") if n not in numbers(before, "commits")
        ],
    }


def _action(
    first: int | None, before: Files, after: Files, chain: list[Cause] | None, moment: str | None
) -> str:
    if moment == "hang":
        return "hang"
    if chain is not None:
        return "fail"
    if first is None:
        return "idle"
    known = f"offsets/{first}"
    if known in before:
        return "rerun" if before[known] == after.get(known) else "replan"
    return "fresh" if first == 0 else "plan"


def wait_until(done: Any, seconds: float) -> bool:
    """Whether a condition became true in time."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if done():
            return True
        time.sleep(0.02)
    return False
