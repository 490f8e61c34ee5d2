"""Transforms: what they must take and give; errors are told by the user's own line."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import SourceError
from holdfast.jobs.ready import ReadyJob
from holdfast.spark.query.dataframe import apply_transform, code_digests, load_sources
from tests.spark.readyjobs import job, source
from tests.spark.streaming import run_to_end

pytestmark = pytest.mark.spark

RATE = source("rate-micro-batch", options={"rowsPerBatch": "4"})
LEFT = source("rate-micro-batch", name="readings", options={"rowsPerBatch": "4"})
RIGHT = source("rate-micro-batch", name="limits", options={"rowsPerBatch": "4"})


def write(folder: Path, **modules: str) -> Path:
    """Write modules of a project into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in modules.items():
        (folder / f"{name}.py").write_text(text)
    return folder


def applied(spark: Any, one: ReadyJob) -> Any:
    """Load and transform."""
    return apply_transform(spark, one, load_sources(spark, one))


def refused(spark: Any, one: ReadyJob) -> SourceError:
    """Apply a transform that can't be; the error is one line and ends a command with 51."""
    with pytest.raises(SourceError) as caught:
        applied(spark, one)
    assert caught.value.exit_status == 51
    assert "\n" not in caught.value.message
    return caught.value


def test_one_source_is_passed_whatever_the_parameter_is_called(spark: Any, tmp_path: Path) -> None:
    """The function is the user's; so is its parameter's name."""
    text = "def clean(anything):\n    return anything.selectExpr('value as reading')\n"
    frame = applied(spark, job(write(tmp_path, pipeline=text), RATE, transform="pipeline:clean"))
    assert frame.columns == ["reading"]


def test_several_sources_are_passed_by_name(spark: Any, tmp_path: Path) -> None:
    """In whatever order the function has them."""
    text = "def both(limits, readings):\n    return readings.union(limits).select('value')\n"
    one = job(write(tmp_path, pipeline=text), LEFT, RIGHT, transform="pipeline:both")
    assert applied(spark, one).columns == ["value"]


def test_a_callable_is_called_the_same_way(spark: Any, tmp_path: Path) -> None:
    """A job that is built in Python gives the function itself."""
    frame = applied(spark, job(tmp_path, LEFT, RIGHT, transform=lambda readings, limits: limits))
    assert frame.isStreaming
    error = refused(spark, job(tmp_path, LEFT, RIGHT, transform=lambda readings: readings))
    assert error.code.number == "HF5114"


def test_parameters_that_do_not_fit_are_named(spark: Any, tmp_path: Path) -> None:
    """Both those that are expected and those that are there."""
    text = "def both(left, right): ...\ndef none(): ...\n"
    write(tmp_path, pipeline=text)
    error = refused(spark, job(tmp_path, LEFT, RIGHT, transform="pipeline:both"))
    assert error.code.number == "HF5114"
    assert "readings, limits" in error.message
    assert "left, right" in error.message
    error = refused(spark, job(tmp_path, RATE, transform="pipeline:none"))
    assert "one DataFrame" in error.message


def views(spark: Any) -> list[str]:
    """Name the temporary views of the session."""
    return [view.name for view in spark.catalog.listTables() if view.isTemporary]


def test_sql_sees_each_source_as_a_view(spark: Any, tmp_path: Path) -> None:
    """By its name, and a single one as `source`; the caller's own views are left as they were."""
    spark.range(3).createOrReplaceTempView("readings")
    before = views(spark)
    one = job(tmp_path, LEFT, sql="select value from source union all select value from readings")
    assert applied(spark, one).columns == ["value"]
    text = "select r.value from readings r join limits l on r.value = l.value"
    assert applied(spark, job(tmp_path, LEFT, RIGHT, sql=text)).isStreaming
    assert sorted(views(spark)) == sorted(before)
    assert spark.table("readings").columns == ["id"]
    spark.catalog.dropTempView("readings")


@pytest.mark.parametrize(
    ("sql", "word"),
    [("selekt 1", "selekt"), ("select nope from source", "nope"), ("select 1 from gone", "gone")],
)
def test_sql_that_is_refused(spark: Any, tmp_path: Path, sql: str, word: str) -> None:
    """Spark's class and sentence, and no plan."""
    error = refused(spark, job(tmp_path, RATE, sql=sql))
    assert error.code.number == "HF5117"
    assert error.at == "holdfast.yaml:6"
    assert word in error.message
    assert "[" in error.message


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("df.select('value'); return None", "None"),
        ("return df.sparkSession.range(3)", "not derived from its sources"),
        ("return df.writeStream", "a writer"),
        ("return 7", "int"),
    ],
)
def test_only_a_streaming_dataframe_is_taken(
    spark: Any, tmp_path: Path, body: str, words: str
) -> None:
    """Anything else is said to be what it is."""
    write(tmp_path, pipeline=f"def clean(df):\n    {body}\n")
    error = refused(spark, job(tmp_path, RATE, transform="pipeline:clean"))
    assert error.code.number == "HF5116"
    assert error.at == "holdfast.yaml:9"
    assert words in error.message


def test_a_query_that_the_transform_started_is_not_taken(spark: Any, tmp_path: Path) -> None:
    """It is told that the sink is declared."""
    started: list[Any] = []

    def start(frame: Any) -> Any:
        started.append(frame.writeStream.format("noop").start())
        return started[0]

    try:
        error = refused(spark, job(tmp_path, RATE, transform=start))
    finally:
        started[0].stop()
    assert error.code.number == "HF5116"
    assert "started itself" in error.message


def test_a_function_that_fails_is_told_by_its_line(spark: Any, tmp_path: Path) -> None:
    """The deepest line in the project, not the one in a library."""
    write(
        tmp_path,
        pipeline="import helpers\n\ndef clean(df):\n    return helpers.limited(df)\n",
        helpers="import json\n\ndef limited(df):\n    return json.loads('not json')\n",
    )
    error = refused(spark, job(tmp_path, RATE, transform="pipeline:clean"))
    assert error.code.number == "HF5115"
    assert error.at == "helpers.py:4"
    assert "helpers.py:4 JSONDecodeError: Expecting value" in error.message
    assert error.trace is not None
    assert "pipeline.py" in error.trace


def test_a_column_that_is_not_there_is_told_by_the_line(spark: Any, tmp_path: Path) -> None:
    """With Spark's class and sentence, and without its plan."""
    write(tmp_path, pipeline="def clean(df):\n    return df.select('nope')\n")
    error = refused(spark, job(tmp_path, RATE, transform="pipeline:clean"))
    assert error.at == "pipeline.py:2"
    assert "[UNRESOLVED_COLUMN.WITH_SUGGESTION]" in error.message
    assert "`nope`" in error.message
    assert "Project" not in error.message


def test_functions_on_executors_take_their_modules_along(spark: Any, tmp_path: Path) -> None:
    """Decorated, plain, through a module, and imported only when the transform runs."""
    folder = write(
        tmp_path / "project",
        pipeline="""
import helpers
from helpers import add
from pyspark.sql.functions import udf

@udf("long")
def decorated(value):
    return helpers.add(value, 10)

def plain(value):
    return add(value, 100)

def clean(df):
    from late import thousand
    return df.select(
        decorated("value").alias("a"),
        udf(plain, "long")("value").alias("b"),
        udf(thousand, "long")("value").alias("c"),
    )
""",
        helpers="def add(value, more):\n    return value + more\n",
        late="from helpers import add\n\ndef thousand(value):\n    return add(value, 1000)\n",
    )
    got: list[Any] = []
    run_to_end(
        applied(spark, job(folder, few(tmp_path), transform="pipeline:clean")),
        tmp_path / "checkpoint",
        lambda batch, _: got.extend(tuple(row) for row in batch.collect()),
    )
    assert sorted(got) == [(11, 101, 1001), (12, 102, 1002)]
    assert str(folder) not in sys.path


def test_what_can_not_travel_is_told(spark: Any, tmp_path: Path) -> None:
    """A module with a lock, taken along whole."""
    write(
        tmp_path,
        pipeline="import guarded\nfrom pyspark.sql.functions import udf\n\ndef clean(df):\n"
        "    return df.select(udf(lambda value: guarded.same(value), 'long')('value'))\n",
        guarded="import threading\nLOCK = threading.Lock()\ndef same(value):\n    return value\n",
    )
    error = refused(spark, job(tmp_path, RATE, transform="pipeline:clean"))
    assert error.code.number == "HF5115"
    assert error.at == "pipeline.py:5"
    assert "lock" in error.message
    assert "by name" in error.next_steps[0]


def test_two_projects_with_the_same_names_keep_apart(spark: Any, tmp_path: Path) -> None:
    """Modules, the modules that they import, and what runs on executors."""
    pipeline = """
import helpers
from pyspark.sql.functions import udf

def clean(df):
    import late
    return df.select(udf(lambda value: helpers.NAME + late.NAME, "string")("value").alias("a"))
"""
    jobs = [
        job(
            write(
                tmp_path / name, pipeline=pipeline, helpers=f"NAME='{name}'", late=f"NAME='{name}!'"
            ),
            few(tmp_path),
            transform="pipeline:clean",
        )
        for name in ("one", "two")
    ]
    got: list[str] = []
    for number, one in enumerate((*jobs, *jobs)):
        run_to_end(
            applied(spark, one),
            tmp_path / f"checkpoint-{number}",
            lambda batch, _: got.append(batch.collect()[0].a),
        )
    assert got == ["oneone!", "twotwo!", "oneone!", "twotwo!"]


def test_code_digests_follow_imports_and_nothing_else(tmp_path: Path) -> None:
    """Another job's modules in the same folder don't matter."""
    write(tmp_path, pipeline="def clean(df):\n    import late\n", late="import math\n", other="")
    digests = code_digests(job(tmp_path, transform="pipeline:clean"))
    assert digests == {
        "late.py": hashlib.sha256(b"import math\n").hexdigest(),
        "pipeline.py": hashlib.sha256((tmp_path / "pipeline.py").read_bytes()).hexdigest(),
    }
    (tmp_path / "other.py").write_text("changed = True\n")
    assert code_digests(job(tmp_path, transform="pipeline:clean")) == digests
    (tmp_path / "late.py").write_text("import json\n")
    assert code_digests(job(tmp_path, transform="pipeline:clean")) != digests


def test_code_digests_of_a_callable_and_of_sql(tmp_path: Path) -> None:
    """A function has a file, SQL in the project file is digested itself."""
    assert [*code_digests(job(tmp_path, transform=applied))] == ["test_dataframe_transforms.py"]
    assert code_digests(job(tmp_path, sql="select 1")) == {
        "sql": hashlib.sha256(b"select 1").hexdigest()
    }


def few(folder: Path) -> Any:
    """Give a source of the rows 1 and 2."""
    (folder / "input").mkdir(exist_ok=True)
    (folder / "input" / "a.json").write_text('{"value": 1}\n{"value": 2}\n')
    return source("json", folder / "input", "value long")
