"""Runs every change on the installed Spark and records what came of it.

`python -m tests.changes.record [--only NAME …] [--group GROUP …] [--missing] [--seconds N]`;
the records are `truth/<group>.json`. Java is needed; the group `kafka` starts a broker.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Container, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from threading import Lock
from typing import Any

from holdfast.running.settings import SessionOptions
from holdfast.spark.session.opening import open_session
from tests.changes.generated import GENERATED
from tests.changes.inputs import BROKER
from tests.changes.judging import Judge, Record, start_of
from tests.changes.loading import PENDING, TRUTH, change_records, read_group
from tests.changes.pair import Pair
from tests.changes.pairs import PAIRS
from tests.parts.kafka import running_broker

_WRITING = Lock()


def main(arguments: Sequence[str]) -> int:
    """Record what was asked for, or everything; 1 where a pair could not be judged."""
    options = options_of(arguments)
    known = {one["pair"] for held_out in (False, True) for one in change_records(held_out=held_out)}
    chosen = [one for one in (*PAIRS, *GENERATED) if wanted(one, options, known)]
    if options.only:
        chosen.sort(key=lambda one: int(options.only.index(one.name)))
    end = time.monotonic() + options.seconds
    spark = session()
    starts: dict[tuple[int, int], list[Pair]] = {}
    for pair in chosen:
        starts.setdefault(start_of(pair), []).append(pair)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root, ExitStack() as parts:
        if any(one.group == "kafka" for one in chosen):
            address = parts.enter_context(running_broker(Path(root) / "kafka"))
            (Path(root) / BROKER).write_text(address, encoding="utf-8")
        judge = Judge(spark, Path(root))
        with ThreadPoolExecutor(options.threads) as pool:
            bad = sum(pool.map(lambda pairs: _recorded(judge, pairs, end), starts.values()))
    spark.stop()
    list_pending()
    return 1 if bad else 0


def list_pending() -> None:
    """Keep the names of the pairs that have no record, or no list where all have one."""
    known = {one["pair"] for held_out in (False, True) for one in change_records(held_out=held_out)}
    names = [one.name for one in (*PAIRS, *GENERATED) if one.name not in known]
    if names:
        PENDING.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    else:
        PENDING.unlink(missing_ok=True)


def _recorded(judge: Judge, pairs: list[Pair], end: float) -> int:
    """Record pairs one after the other, and return how many could not be judged."""
    bad = 0
    for pair in pairs:
        began = time.monotonic()
        if began > end:
            break
        try:
            record = judge.judged(pair)
        except Exception as error:  # noqa: BLE001  (the other pairs are still recorded)
            bad += 1
            print(f"{pair.group}/{pair.name} shows nothing: {error}"[:600], flush=True)
            continue
        with _WRITING:
            write(record)
            _show(record, time.monotonic() - began)
    return bad


def session() -> Any:
    """Open a small local Spark."""
    settings = {
        "spark.sql.streaming.stateStore.maintenanceInterval": "1h",
        "spark.sql.warehouse.dir": tempfile.mkdtemp(),
        "spark.task.maxFailures": "1",
    }
    features = frozenset({"delta", "kafka"})
    spark = open_session(SessionOptions("changes", "local[2]", settings, features=features))
    spark.sparkContext.setLogLevel("OFF")
    return spark


def write(record: Record) -> None:
    """Put a record among the others of its group, by name; one line each."""
    records = {one["pair"]: one for one in (*read_group(record["group"]), record)}
    known = {one.name for one in (*PAIRS, *GENERATED) if one.group == record["group"]}
    kept = sorted((one for one in records.values() if one["pair"] in known),
                  key=lambda one: str(one["pair"]))  # fmt: skip
    lines = ",\n".join(json.dumps(one, ensure_ascii=False) for one in kept)
    TRUTH.mkdir(exist_ok=True)
    (TRUTH / f"{record['group']}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def options_of(arguments: Sequence[str]) -> argparse.Namespace:
    """Return which pairs are asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--group", nargs="*", default=[])
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--seconds", type=int, default=86_400, help="start no pair after that")
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args(arguments)


def wanted(pair: Pair, options: argparse.Namespace, known: Container[str]) -> bool:
    """Return whether a pair is asked for; `known` are the names of those that there are."""
    if options.missing and pair.name in known:
        return False
    if options.only:
        return pair.name in options.only
    return not options.group or pair.group in options.group


def _show(record: Record, seconds: float) -> None:
    counts = " ".join(f"{name}={record[name]}" for name in ("rows", "missing", "extra")
                      if name in record)  # fmt: skip
    parts = (record["group"], record["pair"], record["outcome"], counts)
    extra = record.get("error_class") or record.get("ignored") or record.get("reader") or ""
    doubt = "UNEXPECTED" if record["harmless"] and record["outcome"] != "correct" else ""
    print(*parts, extra, doubt, f"{seconds:.1f}s", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
