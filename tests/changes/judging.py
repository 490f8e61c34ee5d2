"""Runs a change on real Spark and says what came of it."""

from __future__ import annotations

import re
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.changes.bench import SETTINGS, Row, Table, pinned_settings, read_output, run
from tests.changes.inputs import Inputs, write_inputs
from tests.changes.pair import ABOVE, ALL, AS_BEFORE, LATER, Pair, Query
from tests.restarts.errors import chain_of, decisive, stable

Record = dict[str, Any]


class PairError(Exception):
    """Raised for a pair that shows nothing: one of its queries does not run by itself."""


def outcome_of(spark: Any, pair: Pair, folder: Path) -> Record:
    """Run the pair in an empty folder and return its record."""
    record: Record = {"pair": pair.name, "group": pair.group, "how": pair.how}
    record |= {"harmless": pair.harmless, "meant": pair.meant}
    live = folder / "live"
    table = Table()
    write_inputs(live, pair.first)
    run(spark, pair.before, live, table)
    earlier = _rows(spark, pair.before, live, table)
    if pair.between is not None:
        pair.between(live)
    write_inputs(live, pair.second, start=_length(pair.first))
    delivered = table.batches
    try:
        run(spark, pair.after, live, table)
    except Exception as error:  # noqa: BLE001  (whatever it is, it is what we came for)
        failed = {"outcome": "fails", **_failure(error, table, folder)}
        if table.batches > delivered and table.failure is None:
            failed["after_delivery"] = True
    else:
        failed = {}
    right = _right(spark, pair, folder / "right", earlier)
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
    table, start = Table(), 0
    if pair.between is not None:
        (folder).mkdir(parents=True)
        pair.between(folder)
    for part in parts:
        write_inputs(folder, part, start=start)
        start += _length(part)
        try:
            run(spark, query, folder, table)
        except Exception as error:
            raise table.failure or error from error
        if delivered is not None and part is parts[0]:
            table.rows = list(delivered)
    return _rows(spark, query, folder, table)


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


def _length(inputs: Inputs) -> int:
    return max((len(batches) for batches in inputs.values()), default=0)


def judged(spark: Any, pair: Pair, folder: Path) -> Record:
    """Run the pair in a folder that is removed afterwards."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        return outcome_of(spark, pair, folder)
    finally:
        for query in spark.streams.active:
            query.stop()
        shutil.rmtree(folder, ignore_errors=True)


def unchanged(pair: Pair) -> Pair:
    """Return the pair without its change, to see that the unchanged query goes on well."""
    return replace(pair, after=pair.before, right=ALL, reference=None, whole=None)
