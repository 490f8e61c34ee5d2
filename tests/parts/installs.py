"""Environments that hold only some of the installed distributions: the core, and single extras.

A folder of links stands in for site-packages; Python is started without its own (-S). Neither an
import nor the metadata of a distribution finds anything else, as in an environment made by pip.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

SOURCES = Path(__file__).parents[2] / "src"


def environment_of(folder: Path, *extras: str, without: tuple[str, ...] = ()) -> Path:
    """Make the folder an environment with the core and these extras, `without` some names."""
    folder.mkdir()
    wanted = {name for extra in ("", *extras) for name in _closure("holdfast", extra)}
    for name in wanted - {"holdfast", *without}:
        for path in _top_paths(name):
            (folder / path.name).symlink_to(path)
    return folder


def python_in(
    environment: Path, program: str, *words: str, cwd: Path
) -> subprocess.CompletedProcess[str]:
    """Run a program with what is in the environment, and with the package of this tree."""
    return subprocess.run(
        [sys.executable, "-S", "-c", program, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(environment), str(SOURCES)))},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def _closure(name: str, extra: str, seen: set[tuple[str, str]] | None = None) -> Iterator[str]:
    """Yield a distribution and all that it requires with this extra, as far as installed."""
    seen = set() if seen is None else seen
    if (name, extra) in seen:
        return
    seen.add((name, extra))
    try:
        required = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return
    yield name
    for text in required:
        one = Requirement(text)
        if one.marker is None or one.marker.evaluate({"extra": extra}):
            for inner in ("", *one.extras):
                yield from _closure(canonicalize_name(one.name), inner, seen)


def _top_paths(name: str) -> set[Path]:
    """Return the folders and files that a distribution has in site-packages."""
    found = metadata.distribution(name)
    root = Path(str(found.locate_file(""))).resolve()
    tops = {file.parts[0] for file in found.files or () if file.parts[0] != ".."}
    return {root / top for top in tops if top != "__pycache__"}
