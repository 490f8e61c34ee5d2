"""Collects what real Spark says about a checkpoint, as plain JSON values."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from tests.corpus.bench import Bench
from tests.corpus.session import SETTINGS
from tests.corpus.shapes.shape import Shape

REFUSAL_LENGTH = 300
TIMERS = "TimerState"
JOIN_FORMAT = "spark.sql.streaming.join.stateFormatVersion"
JOIN_COLUMN_FAMILIES = {
    "3": (
        "left-keyToNumValues",
        "left-keyWithIndexToValue",
        "right-keyToNumValues",
        "right-keyWithIndexToValue",
    ),
    "4": (
        "left-keyWithTsToValues",
        "left-tsWithKey",
        "right-keyWithTsToValues",
        "right-tsWithKey",
    ),
}


def collect_facts(bench: Bench, shape: Shape) -> dict[str, Any]:
    """Returns the facts file of a shape that has just run."""
    return {
        "spark": bench.spark.version,
        "shape": shape.name,
        "description": shape.description,
        "settings": {**SETTINGS, **bench.settings},
        "query_id": bench.runs[0]["query_id"] if bench.runs else None,
        "runs": bench.runs,
        **read_back(bench),
    }


def read_back(bench: Bench) -> dict[str, Any]:
    """Reads operators and state rows with Spark's own sources (4.0 and later)."""
    has_state = (bench.checkpoint / "state").is_dir()
    if bench.spark.version < "4" or not has_state:
        return {"operators": None, "state": None}
    # Old Sparks write into what they read, so that the original is never given to them.
    copy = bench.folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(bench.checkpoint, copy)
    operators = read_rows(bench.spark.read.format("state-metadata").load(str(copy)))
    return {"operators": operators, "state": read_state(bench.spark, copy, operators)}


def read_state(
    spark: SparkSession, checkpoint: Path, operators: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Reads the rows of every store at the last committed batch; a refusal is kept as text."""
    return [
        {**options, **attempt(spark, checkpoint, options)}
        for operator in operators
        for options in reading_options(operator, spark.conf.get(JOIN_FORMAT) or "2")
    ]


def reading_options(operator: dict[str, Any], join_format: str) -> list[dict[str, str]]:
    """Returns the options with which Spark's reader reaches each part of one store."""
    base = {"operatorId": str(operator["operatorId"]), "storeName": operator["stateStoreName"]}
    properties = json.loads(operator.get("operatorProperties") or "{}")
    variables = properties.get("stateVariables", [])
    if variables:
        return [{**base, **variable_option(variable)} for variable in variables]
    if operator["operatorName"] == "symmetricHashJoin" and base["storeName"] == "default":
        return [{**base, "storeName": name} for name in JOIN_COLUMN_FAMILIES[join_format]]
    return [base]


def variable_option(variable: dict[str, Any]) -> dict[str, str]:
    """Returns the option that names a state variable; timers have one of their own."""
    if variable["stateVariableType"] == TIMERS:
        return {"readRegisteredTimers": "true"}
    return {"stateVarName": variable["stateName"]}


def attempt(spark: SparkSession, checkpoint: Path, options: dict[str, str]) -> dict[str, Any]:
    """Reads one store, or says why Spark would not."""
    reader = spark.read.format("statestore").options(**options)
    try:
        return {"rows": read_rows(reader.load(str(checkpoint)))}
    except (PySparkException, Py4JError) as refusal:
        return {"rows": None, "refusal": " ".join(str(refusal).split())[:REFUSAL_LENGTH]}


def read_rows(frame: DataFrame) -> list[dict[str, Any]]:
    """Returns a frame's rows as JSON values, in Spark's order: that of a list's elements counts."""
    text = f.to_json(f.struct("*"), {"ignoreNullFields": "false"})
    rows = frame.select(text.alias("row")).collect()
    return [json.loads(item["row"], object_pairs_hook=number_repeats) for item in rows]


def number_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Calls the second `sum` of an aggregation buffer `sum#2`, so that no value is lost."""
    found: dict[str, Any] = {}
    seen: Counter[str] = Counter()
    for name, value in pairs:
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name}#{seen[name]}"] = value
    return found
