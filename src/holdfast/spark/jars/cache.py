"""Gives the jars that a session needs: the locked ones from a checked cache, and the user's."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from holdfast.checkpoint.verification import Progress
from holdfast.errors import SparkStartError
from holdfast.redaction import redact
from holdfast.spark.jars.ivy import Dependency, arrived, arrived_bytes, repository, run_ivy
from holdfast.spark.jars.lock import Jar, locked_jars
from holdfast.spark.session.installation import Java, find_java

_PIECE_BYTES = 1024 * 1024


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder for what can be fetched again; HOLDFAST_CACHE names another one."""
    if own := environment.get("HOLDFAST_CACHE"):
        return Path(own).absolute()
    if os.name == "nt" and (local := environment.get("LOCALAPPDATA")):
        return Path(local) / "holdfast"
    # The base directory specification: a relative path there is to be ignored.
    shared = environment.get("XDG_CACHE_HOME", "")
    base = Path(shared) if os.path.isabs(shared) else Path.home() / ".cache"  # noqa: PTH117
    return base / "holdfast"


@dataclass(frozen=True)
class JarCache:
    """A folder of jars by their file names."""

    folder: Path

    def path_of(self, jar: Jar) -> Path:
        """Return where the jar is kept, whether it is there or not."""
        return self.folder / jar.file

    def absent(self, jars: Iterable[Jar]) -> tuple[Jar, ...]:
        """Return the jars that have no file here."""
        return tuple(jar for jar in jars if not self.path_of(jar).is_file())

    def damaged(self, jars: Iterable[Jar]) -> tuple[Jar, ...]:
        """Return the jars whose file here is another one than was locked."""
        return tuple(
            jar
            for jar in jars
            if self.path_of(jar).is_file() and not is_locked(self.path_of(jar), jar)
        )

    def take_in(self, fetched: Path, jar: Jar) -> None:
        """Move a checked file into its place in one step; whoever comes second changes nothing."""
        try:
            fetched.replace(self.path_of(jar))
        except PermissionError:
            # Windows does not replace a file that a running Spark has open.
            if not is_locked(self.path_of(jar), jar):
                raise


def is_locked(file: Path, jar: Jar) -> bool:
    """Return whether the file's bytes are the locked ones."""
    if file.stat().st_size != jar.size:
        return False
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while piece := opened.read(_PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest() == jar.sha256


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
        message = f"libraries cannot be stored there: {failure.strerror or type(failure).__name__}"
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
    message = (
        f"{repository()} delivered files that differ from the locked ones for {names}; they are "
        "not used"
    )
    return SparkStartError("HF5209", message)


def _not_fetched(jars: Sequence[Jar], said: str, cache: JarCache) -> SparkStartError:
    names = ", ".join(jar.file for jar in jars)
    cause = _CAUSE.search(said)
    reported = f" ({redact(cause[0].strip())})" if cause else ""
    message = f"{repository()} did not deliver {names}{reported}"
    return SparkStartError("HF5208", message, at=str(cache.folder))


def jars_for(
    features: Iterable[str],
    spark: str,
    *,
    offline: bool = False,
    progress: Progress | None = None,
) -> tuple[Path, ...]:
    """Return the checked files that these features need on this version of Spark."""
    return obtain(locked_jars(features, spark), offline=offline, progress=progress)


def obtain(
    jars: Sequence[Jar],
    *,
    offline: bool = False,
    progress: Progress | None = None,
    fetching: Callable[[int], None] = lambda _count: None,
) -> tuple[Path, ...]:
    """Return the files of these jars; nothing is fetched and no Java started where all are there.

    `fetching` is called with how many have to be fetched, before that begins.
    """
    cache = JarCache(cache_folder() / "jars")
    absent, damaged = cache.absent(jars), cache.damaged(jars)
    if offline and absent:
        raise _missing(absent, cache)
    if offline and damaged:
        names = ", ".join(jar.file for jar in damaged)
        raise SparkStartError("HF5209", f"checksum mismatch: {names}", at=str(cache.folder))
    if absent or damaged:
        fetching(len(absent) + len(damaged))
        fetch((*absent, *damaged), find_java(), cache, progress)
    return tuple(cache.path_of(jar) for jar in jars)


def _missing(jars: Sequence[Jar], cache: JarCache) -> SparkStartError:
    names = ", ".join(jar.file for jar in jars)
    return SparkStartError("HF5207", f"{names} not cached yet", at=str(cache.folder))


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
