"""Tries every situation on the Spark of this environment and records what came of it.

`python -m tests.diagnosis.doctor.trials.record [NAME …]` with the Python of one Spark; holdfast is
not needed. `HOLDFAST_JARS` may name the jars of Delta and Kafka's connector, separated by commas; a
broker is started for the trials that need one, if the jars are there.
"""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyspark

from tests.diagnosis.doctor.trials import deltasinks, filesinks, kafka, places, state
from tests.diagnosis.doctor.trials.bench import Bench
from tests.diagnosis.doctor.trials.trial import TRIALS, Trial
from tests.restarts.errors import chain_of, decisive, stable

TRUTH = Path(__file__).resolve().parent / "truth"
SUBJECTS = (places, state, filesinks, deltasinks, kafka)
"""Imported for the trials that they register."""
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.streaming.pollingDelay": "5ms",
    "spark.sql.streaming.stateStore.maintenanceInterval": "200ms",
    "spark.task.maxFailures": "1",
}
DELTA = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.databricks.delta.snapshotPartitions": "2",
}


def main(names: list[str]) -> None:
    """Try what was asked for, or all that fits this Spark."""
    jars = os.environ.get("HOLDFAST_JARS", "")
    recorded = {one["trial"]: one for one in _recorded()}
    wanted = [one for one in TRIALS if one.fits(pyspark.__version__, jars=bool(jars))]
    wanted = [one for one in wanted if not names or one.name in names]
    spark = trial_session(jars)
    with broker_for(one.needs for one in wanted) as broker:
        for trial in wanted:
            recorded[trial.name] = tried(trial, spark, broker)
            print(json.dumps(recorded[trial.name]), file=sys.stderr, flush=True)
            _write(list(recorded.values()))
    spark.stop()


def tried(trial: Trial, spark: Any, broker: str = "") -> dict[str, Any]:
    """Try one situation in a folder of its own."""
    # The maintenance thread may still write while the folder is removed.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        bench = Bench(spark, Path(folder), broker)
        seen = seen_of(bench, lambda: trial.function(bench))
    return {"trial": trial.name, "how": trial.how, **seen}


def seen_of(bench: Bench, situation: Callable[[], None]) -> dict[str, Any]:
    """Make a situation, and return what came of its last start: the outcome, rows or error."""
    try:
        situation()
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what we came for)
        return _failure(bench, error)
    finally:
        for query in bench.spark.streams.active:
            query.stop()
    return {**rows_of(bench), "note": bench.note}


def _failure(bench: Bench, error: Exception) -> dict[str, Any]:
    cause = decisive(chain_of(bench.failure or error))
    message = cause.message.replace(str(bench.folder), "<folder>")
    message = re.sub(r"/tmp/spark-\S*", "<local folder>", message)
    return {
        "outcome": "fails",
        "error_class": cause.condition or cause.kind,
        "error": stable(message),
        "note": bench.note,
    }


def rows_of(bench: Bench) -> dict[str, Any]:
    """Compare what was delivered with what should have been."""
    missing = bench.expected - bench.delivered
    doubled = bench.delivered - bench.expected
    outcomes = ["loses rows"] * bool(missing) + ["doubles rows"] * bool(doubled)
    return {
        "outcome": ", ".join(outcomes) or "goes on",
        "rows": sum(bench.expected.values()),
        "missing": sum(missing.values()),
        "doubled": sum(doubled.values()),
    }


@contextmanager
def broker_for(needs: Iterable[str]) -> Iterator[str]:
    """Start a broker if one of the trials needs it, and give its address."""
    if "broker" not in needs:
        yield ""
        return
    from tests.parts.kafka import running_broker

    with tempfile.TemporaryDirectory() as folder, running_broker(Path(folder)) as address:
        yield address


def trial_session(jars: str) -> Any:
    """Open a session with two cores; with jars, Delta is set up too."""
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("trials")
    settings = {**SETTINGS, "spark.sql.warehouse.dir": tempfile.mkdtemp()}
    if jars:
        settings |= {"spark.jars": jars, **DELTA}
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def _file() -> Path:
    return TRUTH / f"{pyspark.__version__}.json"


def _recorded() -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = json.loads(_file().read_text()) if _file().exists() else []
    return read


def _write(records: list[dict[str, Any]]) -> None:
    order = [one.name for one in TRIALS]
    kept = sorted((one for one in records if one["trial"] in order),
                  key=lambda one: order.index(one["trial"]))  # fmt: skip
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in kept)
    TRUTH.mkdir(exist_ok=True)
    _file().write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
