"""Write docs/reference and the picture of the README: `python -m docs.generate`.

`--check` writes nothing and exits with 1 if something is stale.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from docs.generating.advice import advice_page
from docs.generating.codes import codes_page
from docs.generating.commands import commands_page
from docs.generating.exitstatuses import exit_statuses_page
from docs.generating.fieldcases import field_cases_page
from docs.generating.metrics import metrics_page
from docs.generating.projectfile import project_file_page
from docs.generating.results import results_page
from docs.generating.schemas import schema_files
from docs.generating.sparkerrors import spark_errors_pages
from docs.generating.storage import storage_page
from docs.generating.terminal import PICTURE, is_stale, write_picture
from holdfast.jobs.projectfile.model import schema_text

REFERENCE = Path(__file__).resolve().parent / "reference"

WRITTEN_BY_HAND = frozenset(
    {
        "batch-ledger.md",
        "delta-identity.md",
        "file-manifests.md",
        "jdbc-ledger.md",
        "postgres-ledger.md",
        "python-api.md",
        "storage-support.md",
    }
)
"""Formats of files that others may read; tests compare them with the code."""


def pages() -> dict[str, str]:
    """Return every generated file: its path below docs/reference, and its text."""
    return {
        "commands.md": commands_page(),
        "results.md": results_page(),
        "codes.md": codes_page(),
        "advice.md": advice_page(),
        "field-cases.md": field_cases_page(),
        "exit-statuses.md": exit_statuses_page(),
        **spark_errors_pages(),
        "metrics.md": metrics_page(),
        "storage.md": storage_page(),
        "project-file.md": project_file_page(),
        "schemas/project.json": schema_text(),
        **{f"schemas/{name}": text for name, text in schema_files().items()},
    }


def stale(folder: Path = REFERENCE) -> list[str]:
    """Return the files that differ from the code, and those that no generator writes."""
    wanted = pages()
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    differing = [
        name
        for name, text in wanted.items()
        if name not in found or (folder / name).read_text(encoding="utf-8") != text
    ]
    return sorted([*differing, *(found - set(wanted) - WRITTEN_BY_HAND)])


def write(folder: Path = REFERENCE) -> None:
    """Write every page."""
    for name, text in pages().items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def main() -> int:
    """Write the reference, or check that it is current."""
    parser = argparse.ArgumentParser(prog="docs.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; 1 when stale")
    if not parser.parse_args().check:
        write()
        write_picture()
        return 0
    names = [f"reference/{name}" for name in stale()]
    names += [f"images/{PICTURE.name}"] if is_stale() else []
    for name in names:
        print(f"docs/{name} is stale: run `make docs`", file=sys.stderr)
    return 1 if names else 0


if __name__ == "__main__":
    sys.exit(main())
