"""Knows the exact Java libraries for each release of Spark: version, size and SHA-256.

`lock.json` is written by `locking.py` alone. Where a library's version does not match Spark's, its
entry says the reason.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from holdfast.errors import SparkStartError
from holdfast.spark.session.installation import minor_of, release_of

LOCK_FILE = Path(__file__).with_name("lock.json")

Releases = dict[str, dict[str, tuple["Jar", ...]]]


@dataclass(frozen=True)
class Jar:
    """One library, exactly."""

    organisation: str
    name: str
    revision: str
    sha256: str
    size: int
    reason: str | None = None
    """Why this version, where it does not match Spark's."""

    @property
    def file(self) -> str:
        """The name of its file, in the central repository and in our cache."""
        return f"{self.name}-{self.revision}.jar"


@cache
def locked_releases() -> Releases:
    """Return the jars of each feature, by the release of Spark (`4.2`)."""
    releases = json.loads(LOCK_FILE.read_text(encoding="utf-8"))["releases"]
    return {
        release: {feature: tuple(Jar(**jar) for jar in jars) for feature, jars in features.items()}
        for release, features in releases.items()
    }


def locked_jars(features: Iterable[str], spark: str) -> tuple[Jar, ...]:
    """Return what these features need on this version of Spark, each jar once."""
    known = locked_releases().get(release_of(spark), {})
    wanted = sorted(features)
    if unknown := [feature for feature in wanted if feature not in known]:
        raise _nothing_fits(unknown, spark)
    return tuple(dict.fromkeys(jar for feature in wanted for jar in known[feature]))


def _nothing_fits(features: list[str], spark: str) -> SparkStartError:
    fitting = [
        release
        for release, known in locked_releases().items()
        if all(feature in known for feature in features)
    ]
    message = f"no known library for {' and '.join(features)} fits pyspark {spark}"
    if not fitting:
        return SparkStartError("HF5206", message)
    newest = max(fitting, key=minor_of)
    steps = (f'pip install "pyspark=={newest}.*"',)
    return SparkStartError(
        "HF5206", f"{message}; pyspark {' or '.join(fitting)} fits", next_steps=steps
    )
