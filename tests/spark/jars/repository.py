"""A Maven repository in a folder, with a tiny library, so that failures need no network."""

from __future__ import annotations

import hashlib
from pathlib import Path

from holdfast.spark.jars.lock import Jar

CONTENT = b"the bytes of a tiny library"


def publish(repository: Path, name: str, content: bytes = CONTENT) -> Jar:
    """Put a library into the repository and give its entry for a lock."""
    folder = repository / "org" / "example" / name / "1.0"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}-1.0.jar").write_bytes(content)
    return locked(name, content)


def locked(name: str, content: bytes = CONTENT) -> Jar:
    """Give the entry of a library, whether it was published or not."""
    return Jar("org.example", name, "1.0", hashlib.sha256(content).hexdigest(), len(content))
