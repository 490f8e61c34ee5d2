"""Runs a change on real Spark and says what came of it."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.changes.bench import (
    SETTINGS,
    Row,
    Table,
    batch_answer,
    pinned_settings,
    read_output,
    run,
)
from tests.changes.inputs import Inputs, batches_in, write_inputs
from tests.changes.pair import ABOVE, AS_BEFORE, LATER, Pair, Query
from tests.restarts.errors import chain_of, decisive, stable

Record = dict[str, Any]


class PairError(Exception):
    """Raised for a pair that shows nothing: one of its queries does not run by itself."""


def start_of(pair: Pair) -> tuple[int, int]:
    """Return what is equal for pairs that start from one query and one input."""
    return id(pair.before), id(pair.first)


class Judge:
    """Runs pairs below one folder; what several of them start from is run once.

    Pairs with different starts can be judged at the same time, in several threads.
    """

    def __init__(self, spark: Any, root: Path) -> None:
        """Remember the session and an empty folder."""
        self.spark = spark
        self.root = root
        self._begun: dict[tuple[int, int], tuple[Path, Path, Table]] = {}

    def judged(self, pair: Pair) -> Record:
        """Run a pair and return its record."""
        live, table = self._start_from(pair)
        right = live.with_name(f"{live.name}-right")
        try:
            return outcome_of(self.spark, pair, live, table, right)
        finally:
            for folder in (live, right):
                shutil.rmtree(folder, ignore_errors=True)

    def _start_from(self, pair: Pair) -> tuple[Path, Table]:
        """Return a folder in which the query before the change has run, and its sink.

        A checkpoint names its input by its full path: a copy is of use at the same place alone.
        """
        key = start_of(pair)
        if key not in self._begun:
            live = self.root / f"live-{key[0]}-{key[1]}"
            kept = live.with_name(f"{live.name}-kept")
            table = Table()
            write_inputs(live, pair.first)
            run(self.spark, pair.before, live, table)
            shutil.copytree(live, kept)
            shutil.rmtree(live)
            self._begun[key] = (live, kept, table)
        live, kept, table = self._begun[key]
        shutil.copytree(kept, live)
        return live, replace(table, rows=list(table.rows))


def outcome_of(spark: Any, pair: Pair, live: Path, table: Table, apart: Path) -> Record:
    """Change the query in a folder where it has run, run it, and return the record.

    The right answer is found in a folder apart.
    """
    record: Record = {"pair": pair.name, "group": pair.group, "how": pair.how}
    record |= {"harmless": pair.harmless, "meant": pair.meant}
    earlier = _rows(spark, pair.before, live, table)
    if pair.between is not None:
        pair.between(live)
    write_inputs(live, pair.second, start=batches_in(pair.first))
    delivered = table.batches
    try:
        run(spark, pair.after, live, table)
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what we came for)
        failed = {"outcome": "fails", **_failure(error, table, live)}
        if table.batches > delivered and table.failure is None:
            failed["after_delivery"] = True
    else:
        failed = {}
    right = _right(spark, pair, apart, earlier)
    return record | (failed or _compared(spark, pair, live, table, right))


def _right(spark: Any, pair: Pair, folder: Path, earlier: list[Row]) -> list[Row]:
    """Return the right rows; raise `PairError` where the new code does not run by itself."""
    try:
        if pair.right == LATER:
            return [*earlier, *_fresh(spark, pair, pair.after, folder, (pair.second,))]
        query = pair.before if pair.right == AS_BEFORE else pair.reference or pair.after
        parts = (pair.whole,) if pair.whole is not None else (pair.first, pair.second)
        delivered = earlier if pair.right == ABOVE else None
        return _fresh(spark, pair, query, folder, parts, delivered)
    except Exception as error:
        cause = decisive(chain_of(error))
        raise PairError(
            f"{pair.name}: the reference fails: {cause.kind} {cause.message}"
        ) from error


def _fresh(
    spark: Any,
    pair: Pair,
    query: Query,
    folder: Path,
    parts: tuple[Inputs, ...],
    delivered: list[Row] | None = None,
) -> list[Row]:
    """Run a query on a checkpoint of its own, with a stop after each part of the input.

    With `delivered`, what the first part gave is replaced by it.
    """
    if delivered is None:
        at_once = _at_once(spark, pair, query, folder, parts)
        if at_once is not None:
            return at_once
    table, start = Table(), 0
    if pair.between is not None:
        folder.mkdir(parents=True, exist_ok=True)
        pair.between(folder)
    for part in parts:
        write_inputs(folder, part, start=start)
        start += batches_in(part)
        try:
            run(spark, query, folder, table)
        except Exception as error:
            raise table.failure or error from error
        if delivered is not None and part is parts[0]:
            table.rows = list(delivered)
    return _rows(spark, query, folder, table)


def _at_once(
    spark: Any, pair: Pair, query: Query, folder: Path, parts: tuple[Inputs, ...]
) -> list[Row] | None:
    """Compute the query over all parts without a stream; None where only a stream can say it."""
    place, start = folder / "at-once", 0
    place.mkdir(parents=True)
    if pair.between is not None:
        pair.between(place)
    for part in parts:
        write_inputs(place, part, start=start)
        start += batches_in(part)
    return batch_answer(spark, query, place)


def _rows(spark: Any, query: Query, folder: Path, table: Table) -> list[Row]:
    return table.rows if query.sink == "rows" else read_output(spark, query, folder)


def _compared(spark: Any, pair: Pair, live: Path, table: Table, right: list[Row]) -> Record:
    try:
        seen = _rows(spark, pair.after, live, table)
        if pair.after.sink != "rows" and pair.before.path != pair.after.path:
            # A moved output: what was delivered before is at the old place.
            seen = [*_rows(spark, pair.before, live, table), *seen]
    except Exception as error:  # noqa: BLE001  (a reader that fails is what came of it)
        return {"outcome": "corrupt", "reader": _failure(error, table, live)}
    expected, found = Counter(right), Counter(seen)
    missing, extra = sum((expected - found).values()), sum((found - expected).values())
    counts = {"rows": len(right), "missing": missing, "extra": extra}
    if missing or extra:
        return {"outcome": "corrupt", **counts}
    ignored = _ignored(pair, live)
    if ignored or pair.right == AS_BEFORE:
        return {"outcome": "ignored", **counts, "ignored": ignored}
    return {"outcome": "correct", **counts}


def _ignored(pair: Pair, live: Path) -> list[str]:
    """Name the settings that the checkpoint kept although the new deployment has others."""
    pinned = pinned_settings(live)
    old, new = ({**SETTINGS, **one.settings} for one in (pair.before, pair.after))
    changed = [name for name, value in new.items() if old.get(name) != value]
    return sorted(name for name in changed if name in pinned and pinned[name] != new[name])


def _failure(error: Exception, table: Table, folder: Path) -> Record:
    cause = decisive(chain_of(table.failure or error))
    return {"error_class": cause.condition or cause.kind, "error": _plain(cause.message, folder)}


def _plain(message: str, folder: Path) -> str:
    """Return the first line of a message without what differs from run to run."""
    message = message.replace(str(folder), "<folder>")
    message = re.sub(r"(?:file:)?/+tmp/\S*?(?=[,\s\]]|$)", "<path>", message)
    message = re.sub(r"#\d+L?", "", message)
    return stable(message)[:300]
