"""Names the files of a project that a module is made of, by reading its import statements.

What is imported inside of a function counts as well, and what other jobs have loaded does not: the
answer depends on the files alone.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from pathlib import Path

from holdfast.jobs.modulefiles import module_file

__all__ = ["digests_of", "module_file", "module_names"]


def module_names(folder: Path) -> tuple[str, ...]:
    """Name the modules that a project has, its packages' first level included."""
    files = sorted((*folder.glob("*.py"), *folder.glob("*/*.py")))
    dotted = (".".join(file.relative_to(folder).with_suffix("").parts) for file in files)
    return tuple(name.removesuffix(".__init__") for name in dotted)


def digests_of(folder: Path, first: Path) -> dict[str, str]:
    """Give the SHA-256 of a file and of all that it imports from the folder, by relative name."""
    if not first.is_relative_to(folder):
        return {first.name: _digest(first)}
    found = {first}
    waiting = [first]
    while waiting:
        new = {*_imported(folder, waiting.pop())} - found
        found |= new
        waiting += new
    return {path.relative_to(folder).as_posix(): _digest(path) for path in sorted(found)}


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _imported(folder: Path, file: Path) -> Iterator[Path]:
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        # Python tells it when the file is imported; what it would import is then nobody's concern.
        return
    package = file.relative_to(folder).parent.parts
    for node in ast.walk(tree):
        for name in _names(node, package):
            parts = name.split(".")
            for length in range(1, len(parts) + 1):
                path = module_file(folder, ".".join(parts[:length]))
                if path is not None:
                    yield path


def _names(node: ast.AST, package: tuple[str, ...]) -> Iterator[str]:
    """Give every dotted name that an import statement may mean a module by."""
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names)
    elif isinstance(node, ast.ImportFrom):
        above = package[: len(package) - node.level + 1] if node.level else ()
        base = ".".join((*above, *((node.module,) if node.module else ())))
        yield from (".".join(filter(None, (base, one.name))) for one in node.names)
