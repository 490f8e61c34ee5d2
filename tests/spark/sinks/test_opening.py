"""Which sinks are opened, and how the others are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql.types import StringType, StructField, StructType

from holdfast.errors import SinkError
from holdfast.jobs.ready import ReadySink
from holdfast.spark.sinks.opening import open_sink
from holdfast.storage.location import parse_location
from tests.spark.sinks.deliveries import AT, declared

NO_SESSION: Any = None


@pytest.mark.parametrize("format_", ["kafka"])
def test_a_sink_that_is_not_written_says_what_is(tmp_path: Path, format_: str) -> None:
    """Delta and custom can be used today."""
    with pytest.raises(SinkError, match=f"this version cannot write {format_} yet") as caught:
        open_sink(NO_SESSION, declared(tmp_path, ReadySink(format_, "append", AT)))
    assert (caught.value.code.number, caught.value.at) == ("HF5001", AT)
    assert "delta" in caught.value.next_steps[0] and "custom" in caught.value.next_steps[1]


@pytest.mark.parametrize(
    ("sink", "code", "words"),
    [
        (ReadySink("delta", "append", AT), "HF5002", "requires a path"),
        (ReadySink("delta", "upsert", AT, path="/t"), "HF5002", "requires a key"),
        (ReadySink("memory", "merge", AT), "HF5002", "unknown mode merge"),
        (
            ReadySink("delta", "append", AT, path="/t", options={"TxnAppId": "x"}),
            "HF5002",
            "TxnAppId cannot be set",
        ),
        (ReadySink("delta", "append", AT, path="viewfs://x/t"), "HF5009", "cannot be read from"),
        (ReadySink("custom", "append", AT), "HF5002", "requires a function"),
        (ReadySink("postgres", "append", AT, table="t"), "HF5002", "requires a url and a table"),
        (
            ReadySink("postgres", "upsert", AT, url="postgresql://", table="t"),
            "HF5002",
            "requires a key",
        ),
        (
            ReadySink("postgres", "complete", AT, url="postgresql://", table="t", batch_column="b"),
            "HF5002",
            "batch_column is for mode append",
        ),
        (ReadySink("jdbc", "append", AT, url="jdbc:h2:x"), "HF5002", "requires a url and a table"),
        (ReadySink("jdbc", "append", AT, url="h2:x", table="t"), "HF5002", "must begin with jdbc:"),
        (ReadySink("jdbc", "append", AT, url="jdbc:h2:x", table="a b"), "HF5002", "not a valid"),
        (
            ReadySink("jdbc", "append", AT, url="jdbc:x", table="t", options={"dbTable": "u"}),
            "HF5002",
            "dbTable cannot be set",
        ),
        (
            ReadySink("jdbc", "complete", AT, url="jdbc:x", table="t", batch_column="b"),
            "HF5002",
            "batch_column is for mode append",
        ),
        (ReadySink("parquet", "append", AT), "HF5002", "requires a path"),
        (ReadySink("csv", "upsert", AT, path="/t"), "HF5002", "append and complete"),
        (
            ReadySink("orc", "append", AT, path="viewfs://x/t"),
            "HF5009",
            "cannot be read and written",
        ),
        (
            ReadySink(
                "json", "complete", AT, path="s3a://b/t", location=parse_location("s3a://b/t")
            ),
            "HF5021",
            "requires a directory that can be renamed",
        ),
    ],
)
def test_a_sink_that_lacks_something(
    tmp_path: Path, sink: ReadySink, code: str, words: str
) -> None:
    """Told at its place, before Spark is asked anything."""
    with pytest.raises(SinkError, match=words) as caught:
        open_sink(NO_SESSION, declared(tmp_path, sink))
    assert (caught.value.code.number, caught.value.at) == (code, AT)


def test_a_log_that_can_not_be_read_is_told(tmp_path: Path) -> None:
    """The sink never raises when it is asked, and refuses to write blindly."""
    table = tmp_path / "table"
    table.mkdir()
    (table / "_delta_log").symlink_to(table / "_delta_log")
    sink = ReadySink("delta", "append", AT, path=str(table), location=parse_location(str(table)))
    opened = open_sink(NO_SESSION, declared(tmp_path, sink))
    told = opened.last_committed("any")
    assert told.value is None and "could not be read" in told.basis
    assert opened.queries() == frozenset()
    with pytest.raises(SinkError, match="can't be asked") as caught:
        opened.prepare(StructType([StructField("key", StringType())]), begun=False)
    assert caught.value.code.number == "HF5009"


def test_every_sink_says_what_it_promises(tmp_path: Path) -> None:
    """Nobody takes a sink of development for more."""
    base = ReadySink("delta", "append", AT, path="/t", location=parse_location("/t"))

    def promise(format_: str) -> str:
        sink = replace(base, format=format_, function=print, url="postgresql://", table="t")
        return open_sink(NO_SESSION, declared(tmp_path, sink)).promise

    assert "exactly once" in promise("delta")
    for format_ in ("parquet", "csv", "json", "orc"):
        assert "exactly once" in promise(format_)
    assert "of an older driver, stops the job" in promise("postgres")
    assert "at least once per batch" in promise("custom")
    for format_ in ("memory", "console"):
        assert "for development" in promise(format_)
