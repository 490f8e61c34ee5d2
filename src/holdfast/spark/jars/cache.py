"""Keeps fetched jars in one folder for each user, and gives out none whose digest differs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast.spark.jars.lock import Jar

_PIECE_BYTES = 1024 * 1024


def cache_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Give the folder for what can be fetched again; HOLDFAST_CACHE names another one."""
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
        """Give where the jar is kept, whether it is there or not."""
        return self.folder / jar.file

    def absent(self, jars: Iterable[Jar]) -> tuple[Jar, ...]:
        """Give the jars that have no file here."""
        return tuple(jar for jar in jars if not self.path_of(jar).is_file())

    def damaged(self, jars: Iterable[Jar]) -> tuple[Jar, ...]:
        """Give the jars whose file here is another one than was locked."""
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
    """Tell whether the file's bytes are the locked ones."""
    if file.stat().st_size != jar.size:
        return False
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while piece := opened.read(_PIECE_BYTES):
            digest.update(piece)
    return digest.hexdigest() == jar.sha256
