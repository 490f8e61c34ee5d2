"""Which file of a folder a module is."""

from __future__ import annotations

from pathlib import Path


def module_file(folder: Path, name: str) -> Path | None:
    """Return the file of a module by its dotted name; None where the folder has none."""
    place = folder.joinpath(*name.split("."))
    candidates = (place / "__init__.py", place.with_name(f"{place.name}.py"))
    return next((path for path in candidates if path.is_file()), None)
