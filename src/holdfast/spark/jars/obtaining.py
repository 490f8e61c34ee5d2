"""Gives the jars that a session needs: from the cache, and fetched only where they are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from holdfast.checkpoint.verification import Progress
from holdfast.errors import SparkStartError
from holdfast.spark.jars.cache import JarCache, cache_folder
from holdfast.spark.jars.fetching import fetch
from holdfast.spark.jars.lock import Jar, locked_jars
from holdfast.spark.java import find_java


def jars_for(
    features: Iterable[str],
    spark: str,
    *,
    offline: bool = False,
    progress: Progress | None = None,
) -> tuple[Path, ...]:
    """Give the checked files that these features need on this version of Spark."""
    return obtain(locked_jars(features, spark), offline=offline, progress=progress)


def obtain(
    jars: Sequence[Jar],
    *,
    offline: bool = False,
    progress: Progress | None = None,
    fetching: Callable[[int], None] = lambda _count: None,
) -> tuple[Path, ...]:
    """Give the files of these jars; nothing is fetched and no Java started where all are there.

    `fetching` is called with how many have to be fetched, before that begins.
    """
    cache = JarCache(cache_folder() / "jars")
    absent, damaged = cache.absent(jars), cache.damaged(jars)
    if offline and absent:
        raise _missing(absent, cache)
    if offline and damaged:
        names = ", ".join(jar.file for jar in damaged)
        raise SparkStartError("HF5209", f"not what was locked: {names}", at=str(cache.folder))
    if absent or damaged:
        fetching(len(absent) + len(damaged))
        fetch((*absent, *damaged), find_java(), cache, progress)
    return tuple(cache.path_of(jar) for jar in jars)


def _missing(jars: Sequence[Jar], cache: JarCache) -> SparkStartError:
    names = ", ".join(jar.file for jar in jars)
    return SparkStartError("HF5207", f"{names} not here yet", at=str(cache.folder))
