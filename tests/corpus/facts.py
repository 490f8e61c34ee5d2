"""Collects what real Spark says about a checkpoint, as plain JSON values."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from .bench import Bench
from .session import SETTINGS
from .shapes.shape import Shape

ROW_LIMIT = 200


def collect_facts(bench: Bench, shape: Shape) -> dict[str, Any]:
    """Returns the facts file of a shape that has just run."""
    return {
        "spark": bench.spark.version,
        "shape": shape.name,
        "description": shape.description,
        "settings": {**SETTINGS, **bench.settings},
        "query_id": bench.runs[0]["query_id"] if bench.runs else None,
        "runs": [summarise(run) for run in bench.runs],
        **read_back(bench),
    }


def summarise(run: dict[str, Any]) -> dict[str, Any]:
    """Keeps of a run what a reader of its checkpoint can know."""
    return {**run, "progress": [summarise_progress(item) for item in run["progress"]]}


def summarise_progress(progress: dict[str, Any]) -> dict[str, Any]:
    """Keeps offsets, row counts, watermark and state sizes of one batch."""
    sources = ("description", "startOffset", "endOffset", "latestOffset", "numInputRows")
    states = ("operatorName", "numRowsTotal", "numRowsUpdated", "numRowsRemoved")
    return {
        "batchId": progress["batchId"],
        "timestamp": progress["timestamp"],
        "numInputRows": progress["numInputRows"],
        "watermark": progress.get("eventTime", {}).get("watermark"),
        "sources": [select(item, sources) for item in progress["sources"]],
        "stateOperators": [select(item, states) for item in progress["stateOperators"]],
    }


def select(item: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Returns the named fields that `item` has."""
    return {name: item[name] for name in names if name in item}


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
        for options in reading_options(operator)
    ]


def reading_options(operator: dict[str, Any]) -> list[dict[str, str]]:
    """Returns the options with which Spark's reader reaches each part of one store."""
    base = {"operatorId": str(operator["operatorId"]), "storeName": operator["stateStoreName"]}
    properties = json.loads(operator.get("operatorProperties") or "{}")
    variables = properties.get("stateVariables", [])
    if variables:
        names = [{**base, "stateVarName": item["stateName"]} for item in variables]
        return [*names, {**base, "readRegisteredTimers": "true"}]
    if operator["operatorName"] == "symmetricHashJoin" and base["storeName"] == "default":
        return [{"operatorId": base["operatorId"], "joinSide": side} for side in ("left", "right")]
    return [base]


def attempt(spark: SparkSession, checkpoint: Path, options: dict[str, str]) -> dict[str, Any]:
    """Reads one store, or says why Spark would not."""
    try:
        return {"rows": read_rows(
            spark.read.format("statestore").options(**options).load(str(checkpoint))
        )}
    except Exception as refusal:
        return {"rows": None, "refusal": str(refusal).splitlines()[0][:300]}


def read_rows(frame: DataFrame) -> list[dict[str, Any]]:
    """Returns a frame's rows as JSON values, in a stable order."""
    options = {"ignoreNullFields": "false"}
    from pyspark.sql import functions as f

    lines = frame.select(f.to_json(f.struct("*"), options).alias("row")).limit(ROW_LIMIT)
    return [json.loads(line) for line in sorted(item["row"] for item in lines.collect())]
