"""Gives tests the recorded truth and the damaged files it was recorded on, without Spark."""

import json
from collections import defaultdict
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any

from tests.restarts.archive import read_zip
from tests.restarts.damages import damage_named
from tests.restarts.edits import Files

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Truth:
    """What one version of Spark did at the next start of one damaged checkpoint."""

    spark: str
    base: str
    damage: str
    action: str
    """fresh, plan, rerun, fail, idle, hang; or replan, where a known id got other offsets."""
    batch_id: int | None
    """The first batch that the sink was called for or that got an offsets entry, if any."""
    sink_touched: bool
    error_class: str | None
    error: str | None
    called: tuple[int, ...]
    """Every batch that the sink was called for, in order."""
    delivered: tuple[int, ...]
    """The batches whose rows the sink got; a state that cannot be loaded fails in between."""
    failed_at: str | None
    """start, run or hang; none where the run went well."""
    notes: str
    """What the run did to the data: files that the sink got again or never, wrong counts."""


def truths() -> list[Truth]:
    """Every recorded truth of every version, in a stable order."""
    return list(_truths())


@cache
def _truths() -> tuple[Truth, ...]:
    return tuple(
        truth_of(file.stem, record)
        for file in sorted((HERE / "truth").glob("*.json"))
        for record in json.loads(file.read_text())
    )


@cache
def drawn_truths() -> frozenset[Truth]:
    """One truth of each damage of each base, of another version from one to the next."""
    versions: dict[tuple[str, str], list[Truth]] = defaultdict(list)
    for one in _truths():
        versions[one.base, one.damage].append(one)
    return frozenset(
        recorded[place % len(recorded)] for place, recorded in enumerate(versions.values())
    )


def truth_of(spark: str, record: dict[str, Any]) -> Truth:
    """Make the truth of one record."""
    derived: dict[str, Any] = {
        "spark": spark,
        "called": tuple(record["called"]),
        "delivered": tuple(number for number, _ in record["batches"]),
    }
    plain = {field.name: record[field.name] for field in fields(Truth) if field.name not in derived}
    return Truth(**plain, **derived)


def damaged_files(truth: Truth) -> Files:
    """The files of the checkpoint, paths relative to its root, as Spark found them."""
    return {path: text for path, text in _damaged(truth).items() if not path.startswith("../")}


def damaged_output(truth: Truth) -> Files:
    """The files of the sink's log beside the checkpoint, paths relative to the output folder."""
    prefix = "../output/"
    found = _damaged(truth).items()
    return {path[len(prefix) :]: text for path, text in found if path.startswith(prefix)}


def _damaged(truth: Truth) -> Files:
    return damage_named(truth.damage).function(base_files(truth.spark, truth.base))


def base_files(spark: str, base: str) -> Files:
    """The files of an undamaged base, the sink's log beside it as well."""
    return dict(_base(spark, base))


@cache
def _base(spark: str, base: str) -> Files:
    return read_zip(HERE / "bases" / spark / f"{base}.zip")
