"""Failures of real runs: the user's own line, or Spark's class and our page; never Java first."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pyspark
import pytest
from pyspark.errors import StreamingQueryException

from holdfast.codes import code_of
from holdfast.diagnosis.explain.explaining import Kind, explain
from holdfast.errors import HoldfastError, RunError, SinkError
from holdfast.jobs.ready import ReadyJob, ReadySource
from holdfast.spark.failures import failure_of, job_error
from holdfast.spark.query.dataframe import apply_transform, load_sources
from holdfast.spark.query.usercode import load_function
from tests.spark.readyjobs import job, source
from tests.spark.streaming import run_to_end

pytestmark = pytest.mark.spark


@pytest.fixture
def rows(tmp_path: Path) -> ReadySource:
    """A source of the rows 1 and 0."""
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a.json").write_text('{"id": 1}\n{"id": 0}\n')
    return source("json", tmp_path / "input", "id long")


def failed(
    spark: Any, one: ReadyJob, deliver: Callable[[Any, int], Any] | None = None
) -> tuple[HoldfastError, BaseException | None, BaseException]:
    """Run a job that fails, with a gate that keeps what was raised, as the runner's does."""
    raised: list[BaseException] = []

    def gate(batch: Any, batch_id: int) -> None:
        try:
            (deliver or (lambda batch, _: batch.collect()))(batch, batch_id)
        except BaseException as error:
            raised.append(error)
            raise

    with pytest.raises(Exception) as caught:
        frame = apply_transform(spark, one, load_sources(spark, one))
        run_to_end(frame, one.folder / "checkpoint", gate)
    inside = raised[0] if raised else None
    error = job_error(caught.value, one, raised_in_batch=inside)
    assert "\n" not in error.message
    assert "org.apache.spark" not in error.message
    assert len(error.message) < 600
    return error, inside, caught.value


def write_with_spark(batch: Any, batch_id: int) -> None:
    """Have every row read, and keep none."""
    batch.write.format("noop").mode("overwrite").save()


def test_a_function_on_an_executor(spark: Any, tmp_path: Path, rows: ReadySource) -> None:
    """Its own line, in its own module, with what it raised; Java only in the trace."""
    (tmp_path / "pipeline.py").write_text(
        "from pyspark.sql.functions import udf\n"
        "from helpers import number\n\n"
        "def clean(df):\n"
        "    return df.select(udf(number, 'long')('id').alias('n'))\n"
    )
    (tmp_path / "helpers.py").write_text("def number(value):\n    return int(f'no {value}')\n")
    one = job(tmp_path, rows, transform="pipeline:clean")
    error, inside, outside = failed(spark, one)
    assert isinstance(error, RunError)
    assert (error.code.number, error.exit_status) == ("HF5301", 53)
    assert error.at == "helpers.py:2"
    assert error.message == (
        "error in your code: helpers.py:2 ValueError: "
        "invalid literal for int() with base 10: 'no 1'"
    )
    assert error.trace is not None
    assert "Traceback" in error.trace
    assert inside is not None
    kept = failure_of(error, inside)
    assert (kept.error_class, kept.code, kept.at) == ("ValueError", "HF5301", "helpers.py:2")
    without_gate = job_error(outside, one)
    assert without_gate.message == error.message


def test_the_users_sink_function(spark: Any, tmp_path: Path, rows: ReadySource) -> None:
    """An error of several lines becomes one line."""
    (tmp_path / "pipeline.py").write_text(
        "def deliver(batch, identity):\n    raise ValueError('no\\nsecond line')\n"
    )
    one = job(tmp_path, rows)
    reference = job(tmp_path, transform="pipeline:deliver").transform
    error, _, outside = failed(spark, one, load_function(reference))  # type: ignore[arg-type]
    assert error.message == "error in your code: pipeline.py:2 ValueError: no"
    assert job_error(outside, one).message == error.message


def test_a_callable_outside_of_the_folder(spark: Any, tmp_path: Path, rows: ReadySource) -> None:
    """A function that a program passes is the user's, wherever it is."""

    def deliver(batch: Any, batch_id: int) -> None:
        raise KeyError("sensor")

    error, _, _ = failed(spark, job(tmp_path, rows), deliver)
    assert error.code.number == "HF5301"
    assert error.at is not None
    assert error.at.startswith(f"{__file__}:")
    assert "KeyError: 'sensor'" in error.message


def test_an_error_of_holdfast_comes_out_as_itself(
    spark: Any, tmp_path: Path, rows: ReadySource
) -> None:
    """Though it travelled through the JVM as text."""
    own = SinkError("HF5001", "the table holds this batch with different offsets")

    def deliver(batch: Any, batch_id: int) -> None:
        raise own

    error, inside, _ = failed(spark, job(tmp_path, rows), deliver)
    assert error is own
    assert inside is not None
    assert failure_of(error, inside).error_class == "SinkError"


def test_spark_s_own_error_has_its_class(spark: Any, tmp_path: Path, rows: ReadySource) -> None:
    """Division by zero in SQL is nobody's line of Python."""
    one = job(tmp_path, rows, sql="select 1 / id as share from source")
    error, inside, outside = failed(spark, one, write_with_spark)
    assert isinstance(error, RunError)
    assert error.code.number == "HF5302"
    assert error.message.startswith(
        "Spark stopped: [DIVIDE_BY_ZERO] Division by zero. Use `try_divide`"
    )
    assert "SQLSTATE" not in error.message
    assert error.at == "holdfast.yaml:6"
    assert error.next_steps == code_of("HF5302").next_steps, "no page explains it"
    assert inside is not None
    assert failure_of(error, inside).error_class == "DIVIDE_BY_ZERO"
    assert failure_of(error, inside).at is None
    assert failure_of(job_error(outside, one), outside).error_class == "DIVIDE_BY_ZERO"


def test_a_file_that_vanished_before_its_batch_was_run(
    spark: Any, tmp_path: Path, rows: ReadySource
) -> None:
    """Planned, then gone: Spark's class with our page, which says what not to do."""
    one = job(tmp_path, rows)

    def lose(batch: Any, batch_id: int) -> None:
        (tmp_path / "input" / "a.json").unlink()
        write_with_spark(batch, batch_id)

    error, _, _ = failed(spark, one, lose)
    assert error.code.number == "HF5302"
    assert "FAILED_READ_FILE" in error.message
    assert "holdfast explain" in error.next_steps[-1]


def test_a_file_that_is_not_of_its_format(spark: Any, tmp_path: Path) -> None:
    """Thousands of letters of Java become one line."""
    (tmp_path / "input").mkdir()
    (tmp_path / "input" / "a.parquet").write_text("no parquet")
    one = job(tmp_path, source("parquet", tmp_path / "input", "id long"))
    error, _, outside = failed(spark, one, write_with_spark)
    assert error.code.number == "HF5302"
    assert "[FAILED_READ_FILE" in error.message
    assert "\tat " in str(outside)
    assert "\tat " not in f"{error.message} {error.why} {error.next_steps}"
    assert error.trace is not None
    assert "\tat " in error.trace


def test_a_kafka_topic_that_does_not_exist(spark: Any, kafka: str, tmp_path: Path) -> None:
    """Spark starts, and then finds none."""
    options = {
        "kafka.bootstrap.servers": kafka,
        "assign": '{"nowhere": [0]}',
        "startingOffsets": "earliest",
        "kafka.default.api.timeout.ms": "3000",
        "kafka.request.timeout.ms": "2000",
    }
    error, _, outside = failed(spark, job(tmp_path, source("kafka", options=options)))
    assert error.code.number == "HF5302"
    assert error.message.startswith(
        "Spark stopped: UnknownTopicOrPartitionException: This server does not host"
    )
    assert failure_of(error, outside).error_class == "UnknownTopicOrPartitionException"


def test_an_error_with_a_page_is_told_by_the_page(tmp_path: Path) -> None:
    """What it means, what to do, and what people do wrongly."""
    text = (
        "[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: [KAFKA_DATA_LOSS."
        "START_OFFSET_RESET] Some data may have been lost. SQLSTATE: 22000 SQLSTATE: XXKST"
    )
    error = job_error(StreamingQueryException(text), job(tmp_path))
    assert error.code.number == "HF5302"
    assert "[KAFKA_DATA_LOSS.START_OFFSET_RESET] Some data may have been lost" in error.message
    assert error.why.startswith("records that the checkpoint expects are no longer in Kafka. ")
    assert error.next_steps[0].startswith("Write down which offsets are missing")
    assert any(step.startswith("do not: `failOnDataLoss=false`") for step in error.next_steps)
    assert error.next_steps[-1] == "holdfast explain kafka-data-loss"


def test_only_pages_that_exist_are_recommended(tmp_path: Path) -> None:
    """For every error class that Spark has, alone and wrapped as a streaming query wraps it."""
    (jar,) = (Path(pyspark.__file__).parent / "jars").glob("spark-common-utils_*.jar")
    with ZipFile(jar) as packed:
        conditions = json.loads(packed.read("error/error-conditions.json"))
    assert len(conditions) > 500
    explained = 0
    for name in conditions:
        for text in (f"[{name}] words", f"[STREAM_FAILED] Query terminated: [{name}] words"):
            error = job_error(StreamingQueryException(text), job(tmp_path))
            named = [one for one in error.next_steps if one.startswith("holdfast explain ")]
            kinds = [explain(one.split()[2]).result.kind for one in named]
            assert Kind.NONE not in kinds, (name, named)
            assert explain(error.page).result.kind is not Kind.NONE
            explained += bool(named)
    assert explained > 50


def test_secrets_are_not_told(spark: Any, tmp_path: Path, rows: ReadySource) -> None:
    """Neither in the message nor in the trace."""

    def deliver(batch: Any, batch_id: int) -> None:
        raise OSError("can't reach postgresql://holdfast:Pa55word-of-mine@db/gold")

    error, _, _ = failed(spark, job(tmp_path, rows), deliver)
    assert "postgresql://" in error.message
    assert "Pa55word-of-mine" not in f"{error.message} {error.trace}"


def test_an_error_of_nobody(tmp_path: Path) -> None:
    """No line of the user's, nothing of Spark's: told with its class."""
    error = job_error(MemoryError("no room\nat all"), job(tmp_path))
    assert isinstance(error, RunError)
    assert error.code.number == "HF5303"
    assert error.message == "MemoryError: no room"
