"""Plays cases on the Spark of this environment, and keeps what came of them."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from holdfast.running.settings import SessionOptions
from holdfast.spark.session.opening import open_session, stop_session
from tests.fieldcases.play import logs, queries, sinks, sources, state
from tests.fieldcases.play.loading import records
from tests.fieldcases.play.playing import PLAYS, Play, played
from tests.fieldcases.play.stage import Parts
from tests.parts.classarchive import VARIABLE, quick_java
from tests.parts.kafka import running_broker
from tests.parts.postgres import fresh_database, running_server

SUBJECTS = (logs, queries, state, sources, sinks)
"""Imported for the plays that they register."""
SETTINGS = {
    "spark.driver.memory": "2g",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "2",
    "spark.sql.streaming.pollingDelay": "5ms",
    "spark.sql.streaming.stateStore.maintenanceInterval": "200ms",
    "spark.task.maxFailures": "1",
}


def play_all(cases: set[int], names: set[str], *, missing: bool, record: Path) -> bool:
    """Play what was asked for, or everything; return whether all rows of each were right.

    With `missing` only what has no right record yet is played.
    """
    assert SUBJECTS
    kept = {one["play"]: one for one in records(record)}
    wanted = [
        one
        for one in PLAYS
        if (not cases or cases & set(one.cases))
        and (not names or one.name in names)
        and not (missing and kept.get(one.name, {}).get("outcome") == "right")
    ]
    if not wanted:
        return True
    os.environ.setdefault(VARIABLE, quick_java())
    with _parts() as parts:
        for one in wanted:
            kept[one.name] = _played(one, parts)
            print(json.dumps(kept[one.name]), file=sys.stderr, flush=True)
            _write(kept, record)
    return all(kept[one.name]["outcome"] == "right" for one in wanted)


def _played(one: Play, parts: Parts) -> dict[str, Any]:
    try:
        return played(one, parts)
    except Exception as error:  # noqa: BLE001  (the others are still played)
        outcome = f"not playable: {type(error).__name__}: {error}"[:600]
        return {"play": one.name, "cases": list(one.cases), "how": one.how, "outcome": outcome}


@contextmanager
def _parts() -> Iterator[Parts]:
    features = frozenset({"delta", "kafka", "postgres"})
    with ExitStack() as held:
        folder = Path(held.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        conf = {**SETTINGS, "spark.sql.warehouse.dir": str(folder / "warehouse")}
        options = SessionOptions("plays", "local[2]", conf, features=features, folder=folder)
        spark = open_session(options)
        held.callback(stop_session, spark)
        spark.sparkContext.setLogLevel("OFF")

        @cache
        def server() -> str:
            return held.enter_context(running_server())

        @cache
        def broker() -> str:
            return held.enter_context(running_broker(folder / "kafka"))

        yield Parts(spark, lambda: fresh_database(server()), broker)


def _write(found: dict[str, dict[str, Any]], record: Path) -> None:
    order = [one.name for one in PLAYS]
    lines = ",\n".join(
        json.dumps(found[name], ensure_ascii=False) for name in order if name in found
    )
    record.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
