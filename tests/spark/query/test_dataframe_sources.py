"""Sources of every kind become streams; what Spark refuses is told in one line, at its place."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import SourceError
from holdfast.jobs.ready import ReadySource
from holdfast.spark.query.dataframe import load_sources
from tests.parts.kafka import create_topic, produce
from tests.spark.readyjobs import job, source
from tests.spark.streaming import run_to_end

pytestmark = pytest.mark.spark


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one JSON file in `input`."""
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a.json").write_text('{"id": 1}\n{"id": 2}\n')
    return tmp_path


def refused(spark: Any, folder: Path, one: ReadySource) -> SourceError:
    """Load a source that can't be; whatever is wrong, the error is short and names its place."""
    with pytest.raises(SourceError) as caught:
        load_sources(spark, job(folder, one))
    error = caught.value
    assert error.at == "holdfast.yaml:7"
    assert error.exit_status == 51
    named = "source: " if one.name == "source" else f"source {one.name}: "
    assert error.message.startswith(named)
    assert "\n" not in error.message
    assert not any(java in error.message for java in ("org.apache", "java.", "Exception"))
    return error


@pytest.mark.parametrize(
    ("format_", "schema", "options"),
    [
        ("json", "id int", {}),
        ("csv", "id int", {"maxFilesPerTrigger": "1"}),
        ("parquet", "id int", {}),
        ("orc", "id int", {}),
        ("text", None, {}),
    ],
)
def test_files_are_streamed(
    spark: Any, folder: Path, format_: str, schema: str | None, options: dict[str, str]
) -> None:
    """Text has its own column, the others take theirs from `schema:`."""
    one = source(format_, folder / "input", schema, options=options)
    frame = load_sources(spark, job(folder, one))["source"]
    assert frame.isStreaming
    assert frame.columns == (["value"] if schema is None else ["id"])


def test_sources_come_by_name(spark: Any, folder: Path) -> None:
    """Several sources, of several kinds."""
    frames = load_sources(
        spark,
        job(
            folder,
            source("rate", name="ticks", options={"rowsPerSecond": "5"}),
            source("rate-micro-batch", name="rows", options={"rowsPerBatch": "5"}),
            source("json", folder / "input", "id int", name="files"),
        ),
    )
    assert [*frames] == ["ticks", "rows", "files"]
    assert all(frame.isStreaming for frame in frames.values())


def test_a_delta_table_is_streamed(spark: Any, folder: Path) -> None:
    """Its schema is the table's."""
    spark.range(3).write.format("delta").save(str(folder / "table"))
    frame = load_sources(spark, job(folder, source("delta", folder / "table")))["source"]
    assert frame.isStreaming
    assert frame.columns == ["id"]


def test_a_missing_folder_is_named(spark: Any, folder: Path) -> None:
    """Also one that was there and is gone."""
    shutil.rmtree(folder / "input")
    error = refused(spark, folder, source("json", folder / "input", "id int"))
    assert error.code.number == "HF5101"
    assert str(folder / "input") in error.message
    options = {"path": str(folder / "input")}
    assert refused(spark, folder, source("json", None, "id int", options=options)).message == (
        error.message
    )


def test_a_schema_that_does_not_parse(spark: Any, folder: Path) -> None:
    """With where in the schema it is."""
    error = refused(spark, folder, source("json", folder / "input", "id int name"))
    assert error.code.number == "HF5102"
    assert "'name'" in error.message
    assert "pos 7" in error.message


@pytest.mark.parametrize("format_", ["json", "csv", "parquet", "orc"])
def test_files_need_a_schema(spark: Any, folder: Path, format_: str) -> None:
    """The error names the key to add."""
    error = refused(spark, folder, source(format_, folder / "input"))
    assert error.code.number == "HF5104"
    assert "schema:" in error.message


def test_a_schema_may_be_inferred_by_wish(spark: Any, folder: Path) -> None:
    """Spark's own setting for it is respected."""
    own = spark.newSession()
    own.conf.set("spark.sql.streaming.schemaInference", "true")
    frame = load_sources(own, job(folder, source("json", folder / "input")))["source"]
    assert frame.columns == ["id"]
    (folder / "input" / "a.json").unlink()
    with pytest.raises(SourceError) as caught:
        load_sources(own, job(folder, source("json", folder / "input")))
    assert caught.value.code.number == "HF5104"


@pytest.mark.parametrize("format_", ["jsno", "jdbc", "avro"])
def test_a_format_that_can_not_be_streamed(spark: Any, folder: Path, format_: str) -> None:
    """Unknown, for batches only, or without its jar."""
    options = {"url": "jdbc:x", "dbtable": "x"} if format_ == "jdbc" else {}
    error = refused(spark, folder, source(format_, folder / "input", options=options))
    assert error.code.number == "HF5103"
    assert format_ in error.message


@pytest.mark.parametrize("place", ["input", "nowhere"])
def test_a_folder_that_is_no_delta_table(spark: Any, folder: Path, place: str) -> None:
    """Whether it exists or not."""
    error = refused(spark, folder, source("delta", folder / place))
    assert error.code.number == "HF5105"
    assert str(folder / place) in error.message


@pytest.mark.parametrize(
    ("one", "word"),
    [
        (source("rate", options={"rowsPerSecond": "0"}), "rowsPerSecond"),
        (source("rate", schema="id int"), "schema"),
        (source("kafka", options={"kafka.bootstrap.servers": "127.0.0.1:1"}), "subscribe"),
        (source("json", "nosuch://place/of", "id int"), "nosuch"),
    ],
)
def test_options_that_spark_refuses(spark: Any, folder: Path, one: ReadySource, word: str) -> None:
    """Spark's sentence is kept: it names the option."""
    with pytest.raises(SourceError) as caught:
        load_sources(spark, job(folder, one))
    assert caught.value.code.number == "HF5106"
    assert caught.value.at == "holdfast.yaml:7"
    assert word in caught.value.message
    assert "\tat " not in caught.value.message
    assert len(caught.value.message) < 500


def test_a_password_in_a_refused_option_is_not_shown(spark: Any, folder: Path) -> None:
    """Neither in the message nor in the trace."""
    place = "nosuch://user:Pa55word-of-mine@host/x"
    with pytest.raises(SourceError) as caught:
        load_sources(spark, job(folder, source("json", place, "id int")))
    assert "Pa55word-of-mine" not in f"{caught.value.message} {caught.value.trace}"


def test_kafka_is_read_once_across_restarts(spark: Any, kafka: str, tmp_path: Path) -> None:
    """A real broker: read, stop, more messages, restart: each message once."""
    create_topic(kafka, "sensors", partitions=2)
    options = {
        "kafka.bootstrap.servers": kafka,
        "subscribe": "sensors",
        "startingOffsets": "earliest",
        "maxOffsetsPerTrigger": "40",
    }
    declared = job(tmp_path, source("kafka", options=options))
    got: list[int] = []
    for numbers in (range(100), range(100, 150), range(0)):
        produce(kafka, "sensors", map(str, numbers))
        frame = load_sources(spark, declared)["source"].selectExpr("cast(value as string) value")
        run_to_end(
            frame,
            tmp_path / "checkpoint",
            lambda batch, _: got.extend(int(row.value) for row in batch.collect()),
        )
        assert sorted(got) == [*range(max(numbers.stop, len(got)))]
    assert len(got) == 150
