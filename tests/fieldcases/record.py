"""Makes every field case on this machine and records what `holdfast` said and what Spark did.

`python -m tests.fieldcases.record [NAME …]`; Spark, Delta, a Kafka broker and a database are
those of the tests. The record is `truth/<spark version>.json`.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pyspark

from tests.diagnosis.doctor.trials.record import rows_of, trial_session
from tests.fieldcases import drivers, growth, objectstore, queries, runs, tables, topics
from tests.fieldcases.bench import CaseBench
from tests.fieldcases.case import CASES, Case, Start
from tests.parts.libraries import jars_for
from tests.restarts.errors import chain_of, decisive, stable

TRUTH = Path(__file__).resolve().parent / "truth"
SUBJECTS = (drivers, growth, objectstore, queries, runs, tables, topics)
"""Imported for the cases that they register."""


def main(names: list[str]) -> None:
    """Make what was asked for, or everything."""
    wanted = [one for one in CASES if not names or one.name in names]
    purposes = ["spark", "h2", *(["s3"] if any(one.needs == "s3" for one in wanted) else [])]
    spark = trial_session(",".join(str(jar) for purpose in purposes for jar in jars_for(purpose)))
    with _parts_for(wanted) as (broker, database):
        for one in wanted:
            try:
                record = made(one, spark, broker, database)
            except Exception as error:  # noqa: BLE001  (the other cases are still made)
                print(f"{one.name} could not be made: {error}", file=sys.stderr, flush=True)
                continue
            print(json.dumps(record), file=sys.stderr, flush=True)
            _write(record)
    spark.stop()


def made(one: Case, spark: Any, broker: str = "", database: str = "") -> dict[str, Any]:
    """Make one case in a folder of its own: what was told, what the start did, and the step."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as around:
        folder = Path(around) / "case"
        folder.mkdir()
        bench = CaseBench(spark, folder, broker, database=database)
        try:
            return _made(one, bench)
        finally:
            bench.held.__exit__(None, None, None)


def _made(one: Case, bench: CaseBench) -> dict[str, Any]:
    start, step = one.function(bench)
    found: dict[str, Any] = {"trial": one.name, "case": one.number, "how": one.how}
    found |= {"asked": bench.asked, "told": dict(sorted(bench.told.items()))}
    if bench.refused:
        found["refused"] = bench.refused
    found |= _judged(bench, start)
    found["note"] = bench.note
    if step is not None:
        bench.put_back()
        found["step"] = _judged(bench, step)["outcome"]
    return found


def _judged(bench: CaseBench, start: Start) -> dict[str, Any]:
    """Start, and say what came of it."""
    try:
        start()
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what we came for)
        cause = decisive(chain_of(bench.failure or error))
        message = stable(cause.message.replace(str(bench.folder), "<folder>"))
        name = cause.condition or cause.kind
        return {"outcome": "fails", "error_class": name, "error": _without_ids(message)}
    finally:
        for query in bench.spark.streams.active:
            query.stop()
    return rows_of(bench)


def _without_ids(message: str) -> str:
    message = re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}", "<id>", message)
    return re.sub(r"(?:file:)?/tmp/\S*", "<folder>", message)


@contextmanager
def _parts_for(wanted: list[Case]) -> Iterator[tuple[str, str]]:
    """Start what the cases need: a broker, a database."""
    from tests.parts.h2 import running_h2
    from tests.parts.kafka import running_broker

    with ExitStack() as stack:
        broker = database = ""
        if any(one.needs == "broker" for one in wanted):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            broker = stack.enter_context(running_broker(Path(folder)))
        if any(one.needs == "database" for one in wanted):
            folder = stack.enter_context(tempfile.TemporaryDirectory())
            database = stack.enter_context(running_h2(Path(folder)))
        yield broker, database


def _file() -> Path:
    return TRUTH / f"{pyspark.__version__}.json"


def _recorded() -> list[dict[str, Any]]:
    read: list[dict[str, Any]] = json.loads(_file().read_text()) if _file().exists() else []
    return read


def _write(record: dict[str, Any]) -> None:
    """Put a record among the others, which another process may have written meanwhile."""
    order = [one.name for one in CASES]
    records = {one["trial"]: one for one in (*_recorded(), record)}
    kept = [one for one in records.values() if one["trial"] in order]
    kept.sort(key=lambda one: (one["case"], order.index(one["trial"])))
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in kept)
    TRUTH.mkdir(exist_ok=True)
    _file().write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
