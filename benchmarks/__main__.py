"""`make bench`: measures every subject and writes docs/benchmarks.md.

`python -m benchmarks doctoring` measures one subject, and writes its section anew.
"""

from __future__ import annotations

import platform
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from benchmarks import (
    backing,
    checking,
    copying,
    doctoring,
    inspecting,
    running,
    sinking,
    statereading,
    statusing,
)
from benchmarks.figures import Figure, Subject, Workshop

_END = "Measured with Python"
PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"
SUBJECTS: Mapping[str, Subject] = {
    "inspecting": inspecting.SUBJECT,
    "doctoring": doctoring.SUBJECT,
    "statusing": statusing.SUBJECT,
    "statereading": statereading.SUBJECT,
    "running": running.SUBJECT,
    "sinking": sinking.SUBJECT,
    "copying": copying.SUBJECT,
    "backing": backing.SUBJECT,
    "checking": checking.SUBJECT,
}
"""In the order of the page; a new subject is a module with a `SUBJECT`, and a line here."""


def main(names: Sequence[str]) -> int:
    """Measure, write the page, and say which promises were kept."""
    unknown = set(names) - SUBJECTS.keys()
    if unknown:
        sys.stderr.write(f"no subject {', '.join(unknown)}; there are {', '.join(SUBJECTS)}\n")
        return 2
    folder = Path(tempfile.mkdtemp(prefix="holdfast-bench-"))
    try:
        workshop = Workshop(folder)
        measured = {name: SUBJECTS[name].measure(workshop) for name in names or SUBJECTS}
    finally:
        shutil.rmtree(folder)
    PAGE.write_text(_page({**_sections_there(), **_sections(measured)}), encoding="utf-8")
    figures = [figure for group in measured.values() for figure in group]
    for figure in figures:
        mark = "kept  " if figure.kept else "BROKEN"
        sys.stdout.write(f"{mark} {figure.what}: {figure.measured} ({figure.promised})\n")
    return 0 if all(figure.kept for figure in figures) else 1


def _page(sections: Mapping[str, str]) -> str:
    """Put the sections in the order of the subjects."""
    ordered = [sections[one.title] for one in SUBJECTS.values() if one.title in sections]
    return f"""# Benchmarks

Written by `make bench`; what a section compares was measured in one run.

{"".join(ordered)}{_END} {platform.python_version()} on {platform.system()}, two cores.
"""


def _sections_there() -> dict[str, str]:
    """Give what the page shows, by title."""
    text = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    _, *parts = text.partition(_END)[0].split("\n## ")
    return {part.partition("\n")[0]: f"## {part.rstrip()}\n\n" for part in parts}


def _sections(measured: Mapping[str, Sequence[Figure]]) -> dict[str, str]:
    subjects = {name: SUBJECTS[name] for name in measured}
    return {one.title: _section(one, measured[name]) for name, one in subjects.items()}


def _section(subject: Subject, figures: Sequence[Figure]) -> str:
    rows = "\n".join(
        f"| {one.what} | {one.measured} | {one.promised} | {'yes' if one.kept else '**no**'} |"
        for one in figures
    )
    return f"""## {subject.title}

{subject.how}

| what | measured | promised | kept |
|---|---|---|---|
{rows}

"""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
