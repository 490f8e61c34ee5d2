"""The Java and Scala functions of a plan, whose code no plan shows: the jars that it is in."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from holdfast.records.facts import UNLOCATED
from holdfast.spark.facts.plan.planning import java_class
from holdfast.spark.facts.plan.reading import QueryPlan, expressions_of

_FUNCTIONS = {"ScalaUDF": "function", "ScalaAggregator": "agg", "ScalaUDAF": "udaf"}
"""An expression to the method that returns the object which computes it."""


def java_code(machine: Any, plan: QueryPlan) -> dict[str, str]:
    """Return the digest of each jar with code of a function, by its name without the directory.

    Spark fetches jars into another directory at each start. Code that is found nowhere is
    `UNLOCATED`, and what comes with Spark is of its release.
    """
    found: dict[str, str] = {}
    for _, node, java in expressions_of(plan, lambda one: one.name in _FUNCTIONS):
        name = f"Java function {node.fields.get('udfName') or node.name}"
        try:
            own = _location(java_class(machine, "org.apache.spark.SparkConf")().getClass())
            places = {*_locations(getattr(java, _FUNCTIONS[node.name])())}
            jars = [one for one in places if own is None or one.parent != own.parent]
            found |= {f"jar {one.name}": _digest_of(one) for one in jars}
        except Exception:  # noqa: BLE001 - whatever keeps it from being found, it is not known
            found[name] = UNLOCATED
    return found


def _locations(function: Any) -> Iterator[Path]:
    """Yield where the class of a function is, and those of what it was made with: what is
    registered from Python is wrapped by Spark."""
    kind = function.getClass()
    parts = [kind]
    for field in kind.getDeclaredFields():
        field.setAccessible(True)
        value = field.get(function)
        if hasattr(value, "getClass"):
            parts.append(value.getClass())
    for one in parts:
        location = _location(one)
        if location is not None:
            yield location


def _location(kind: Any) -> Path | None:
    """Return the jar or directory of a class; None for one of Java itself."""
    source = kind.getProtectionDomain().getCodeSource()
    if source is None or source.getLocation() is None:
        return None
    return Path(unquote(urlsplit(source.getLocation().toString()).path))


def _digest_of(place: Path) -> str:
    if not place.is_file():
        return UNLOCATED
    state = place.stat()
    return _digest(str(place), state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=32)
def _digest(path: str, _modified: int, _size: int) -> str:
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    return f"sha256:{digest.hexdigest()}"
