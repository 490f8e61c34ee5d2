"""Brings the user's own jars and the locked ones together, never two versions of one library."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from holdfast.errors import SparkStartError
from holdfast.spark.jars.cache import is_locked
from holdfast.spark.jars.lock import Jar

_NAMED = re.compile(r"(?P<name>.+?)(?P<made_for>(?:_\d[\d.]*)*)-\d[\w.\-]*\.jar")
_MAIN_LIBRARY = {
    "delta-spark": "delta",
    "spark-sql-kafka-0-10": "kafka",
    "hadoop-aws": "s3",
    "postgresql": "postgres",
}


def own_jars(written: Iterable[str], folder: Path, at: str | None) -> tuple[str, ...]:
    """Return the user's jars as Spark takes them; a local one that is not there is refused.

    A relative path counts from `folder`, and `*` is filled in. URLs are Spark's to reach.
    """
    jars: dict[str, None] = {}
    for text in written:
        local = _local_path(text, folder)
        found = [text] if local is None else [str(path) for path in _files(local)]
        if not found:
            raise SparkStartError("HF5210", f"there is no jar at {text}", at=at)
        jars.update(dict.fromkeys(found))
    return tuple(jars)


def features_within(own: Iterable[str]) -> frozenset[str]:
    """Name the features whose main library the user brings."""
    names = {_library(jar) for jar in own}
    return frozenset(feature for name, feature in _MAIN_LIBRARY.items() if name in names)


def is_main_library(jar: Jar, feature: str) -> bool:
    """Whether this jar is the one that brings a feature; the others are what it needs."""
    return _MAIN_LIBRARY.get(_library(jar.file)) == feature


def without_doubles(own: Sequence[str], locked: Sequence[Jar], at: str | None) -> tuple[str, ...]:
    """Return the user's jars without those that are locked too; another version is refused."""
    by_library = {_library(jar.file): jar for jar in locked}
    kept: list[str] = []
    for text in own:
        jar = by_library.get(_library(text))
        if jar is None:
            kept.append(text)
        elif not _is_same(text, jar):
            name = text.rpartition("/")[2]
            message = f"spark.jars has {name}, and the jobs need {jar.file}"
            raise SparkStartError("HF5211", message, at=at)
    return tuple(kept)


def _is_same(text: str, jar: Jar) -> bool:
    path = Path(text)
    return path.name == jar.file and (not path.is_file() or is_locked(path, jar))


def _library(jar: str) -> str:
    """Return `delta-spark` for `/x/delta-spark_4.2_2.13-4.4.0.jar`: the name without versions."""
    name = jar.replace("\\", "/").rpartition("/")[2]
    match = _NAMED.fullmatch(name)
    return match["name"] if match else name


def _local_path(text: str, folder: Path) -> Path | None:
    """Return the absolute path that the text means; None where it is a URL of another place."""
    if text.startswith("file:"):
        return Path(unquote(urlsplit(text).path))
    if re.match(r"[A-Za-z][A-Za-z0-9+.\-]+:", text):
        return None
    return (folder / text).absolute()


def _files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(path.parent.glob(path.name)) if "*" in path.name else []
