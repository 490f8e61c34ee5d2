"""Fetches jars into the cache: each one is whole and has the locked digest, or is not there."""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from holdfast.checkpoint.verification import Progress
from holdfast.errors import SparkStartError
from holdfast.redaction import redact
from holdfast.spark.jars.cache import JarCache, is_locked
from holdfast.spark.jars.ivy import Dependency, arrived, arrived_bytes, repository, run_ivy
from holdfast.spark.jars.lock import Jar
from holdfast.spark.java import Java

_WORK_PREFIX = ".fetching-"
_LEFT_OVER_SECONDS = 24 * 3600
_CAUSE = re.compile(r"(?:Server access error|SERVER ERROR|Host .* not found|Exception).*")


def fetch(
    jars: Sequence[Jar], java: Java, cache: JarCache, progress: Progress | None = None
) -> None:
    """Fetch these jars into the cache; what arrived in good order stays, also if others failed.

    Every process works in a folder of its own and moves checked files into place, so two that
    fetch at the same time do each other no harm.
    """
    try:
        cache.folder.mkdir(parents=True, exist_ok=True)
        _sweep(cache.folder)
        work = Path(tempfile.mkdtemp(prefix=_WORK_PREFIX, dir=cache.folder))
    except OSError as failure:
        message = f"libraries can't be kept there: {failure.strerror or type(failure).__name__}"
        raise SparkStartError("HF5214", message, at=str(cache.folder)) from failure
    try:
        _fetch_in(work, jars, java, cache, progress)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _fetch_in(
    work: Path, jars: Sequence[Jar], java: Java, cache: JarCache, progress: Progress | None
) -> None:
    total = sum(jar.size for jar in jars)

    def look() -> None:
        if progress is not None:
            progress(min(arrived_bytes(work), total), total)

    wanted = {Dependency(jar.organisation, jar.name, jar.revision): jar for jar in jars}
    said = run_ivy(java, tuple(wanted), work, look=look)
    look()
    came = arrived(work)
    good = {wanted[library] for library in came if is_locked(came[library], wanted[library])}
    for library, jar in wanted.items():
        if jar in good:
            cache.take_in(came[library], jar)
    if altered := [wanted[library] for library in came if wanted[library] not in good]:
        raise _altered(altered)
    if missing := [jar for jar in jars if jar not in good]:
        raise _not_fetched(missing, said, cache)


def _sweep(folder: Path) -> None:
    """Remove what processes that were killed while they fetched left here."""
    for left in folder.glob(f"{_WORK_PREFIX}*"):
        if time.time() - left.stat().st_mtime > _LEFT_OVER_SECONDS:
            shutil.rmtree(left, ignore_errors=True)


def _altered(jars: Sequence[Jar]) -> SparkStartError:
    names = ", ".join(jar.file for jar in jars)
    message = f"{repository()} gave another file than the locked one for {names}; it is not used"
    return SparkStartError("HF5209", message)


def _not_fetched(jars: Sequence[Jar], said: str, cache: JarCache) -> SparkStartError:
    names = ", ".join(jar.file for jar in jars)
    cause = _CAUSE.search(said)
    told = f" ({redact(cause[0].strip())})" if cause else ""
    message = f"{repository()} did not give {names}{told}"
    return SparkStartError("HF5208", message, at=str(cache.folder))
