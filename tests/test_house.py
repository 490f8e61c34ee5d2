"""The house stays one that others can work in: borders, sizes, names, and tests beside sources."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent
SOURCES = REPOSITORY / "src" / "holdfast"
TESTS = REPOSITORY / "tests"
LONGEST_MODULE = 450
MOST_POSITIONS = 6
KNOWN_BY_POSITION = {"Finding", "Change"}
"""Written in a hundred places, always in the same order."""

BORDERS = {
    "click": ("cli",),
    "rich": ("cli", "library"),
    "pydantic": ("jobs/projectfile",),
    "yaml": ("jobs/projectfile",),
    "fsspec": ("storage",),
    "psycopg": ("ledgers/database", "spark/sinks/database"),
    "numpy": ("format", "state", "diagnosis/doctor", "spark/sinks/database"),
    "pyarrow": (
        "format", "state", "diagnosis/comparison", "ledgers/delta", "spark/sinks",
    ),
    "rocksdict": ("state/loading",),
    "confluent_kafka": ("diagnosis/inspection",),
    "prometheus_client": ("metrics",),
}  # fmt: skip
"""The rooms that may import a library; elsewhere its types and errors are translated."""

STORIES = (
    "advice", "changes", "corpus", "crashes", "docs", "fieldcases", "fuzz", "restarts",
    "simulation", "spark/running", "spark/sinks/promises", "state/truth",
)  # fmt: skip
"""Directories of tests about the whole, not about one module."""

BEHAVIOURS = {
    "": {"doctests", "drawing", "house", "package"},
    "backup": {"acting", "kills", "modes", "remote"},
    "checkpoint": {"live"},
    "cli": {
        "copied_commands", "denied", "imports", "installs", "project_target", "secrets",
    },
    "diagnosis/checks": {"askedledgers"},
    "diagnosis/doctor": {
        "declaredplace", "denied", "rewound_tables", "scenarios", "severities",
    },
    "diagnosis/evidence": {"evidence", "remote"},
    "diagnosis/explain/pages": {"conditions"},
    "diagnosis/status": {"remote"},
    "format": {"any_damage", "every_real_file"},
    "format/sources": {"real_offsets", "sources"},
    "metrics": {"live", "monitoring"},
    "records": {"kills", "remote"},
    "redaction": {"planted"},
    "spark": {
        "advice", "changes", "fieldcases", "new_project", "outputmodes", "pending_state",
        "restarts", "running_query", "startline", "state_rows", "trials",
    },
    "spark/sinks": {"small_sinks", "streams"},
    "spark/sinks/delta": {"conflicts", "neighbours", "races"},
    "state": {"coldstart", "damage", "sst_truth", "truth", "written"},
}  # fmt: skip
"""Tests of a room as a whole, named by what they show."""

TWINS = {
    "Certainty", "Change", "Job", "Kind", "Restart", "Sink", "Source", "Standing", "Store",
}  # fmt: skip
"""Names that a published schema has, for a declaration and for a result."""


def modules() -> Iterator[Path]:
    """Yield every module of the package."""
    yield from sorted(SOURCES.rglob("*.py"))


@cache
def parsed(module: Path) -> ast.Module:
    return ast.parse(module.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def imported(module: Path) -> set[str]:
    """Return the top-level packages that a module imports, also inside of functions."""
    found: set[str] = set()
    for node in ast.walk(parsed(module)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found


@pytest.mark.parametrize("library", BORDERS)
def test_a_library_is_imported_behind_its_border_alone(library: str) -> None:
    room = [
        module.relative_to(SOURCES).as_posix()
        for module in modules()
        if library in imported(module)
    ]
    assert room, f"nothing imports {library} any more"
    assert [one for one in room if not one.startswith(BORDERS[library])] == []


def test_no_module_is_longer_than_a_reader_can_keep_in_mind() -> None:
    lengths = {name_of(one): len(one.read_text(encoding="utf-8").splitlines()) for one in modules()}
    assert {name: size for name, size in lengths.items() if size > LONGEST_MODULE} == {}


def test_a_class_name_is_searched_for_once() -> None:
    homes: dict[str, list[str]] = defaultdict(list)
    for module in modules():
        for node in parsed(module).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(name_of(module))
    assert {
        name: there for name, there in homes.items() if len(there) > 1 and name not in TWINS
    } == {}


def test_an_object_of_many_parts_is_made_by_their_names() -> None:
    by_position = {
        f"{name_of(module)}:{call.lineno}"
        for module in modules()
        for call in ast.walk(parsed(module))
        if isinstance(call, ast.Call)
        and len(call.args) > MOST_POSITIONS
        and isinstance(call.func, ast.Name)
        and call.func.id[0].isupper()
        and call.func.id not in KNOWN_BY_POSITION
    }
    assert not by_position


def test_a_test_is_found_where_its_module_is() -> None:
    """`test_<module>.py`, `test_<module>_<aspect>.py`, or a behaviour of the room."""
    tests = sorted(TESTS.rglob("test_*.py"))
    assert len(tests) > 400
    assert [name_of(test) for test in tests if not is_at_its_module(test)] == []


def is_at_its_module(test: Path) -> bool:
    folder = test.parent.relative_to(TESTS).as_posix().removeprefix(".")
    room, subject = SOURCES / folder, test.stem.removeprefix("test_")
    if folder.startswith(STORIES) or subject in BEHAVIOURS.get(folder, set()):
        return True
    rooms = [room, room / "commands"]
    known = {one.stem for place in rooms if place.is_dir() for one in place.iterdir()}
    return any(subject == one or subject.startswith(f"{one}_") for one in known)


def test_a_test_without_a_module_is_found() -> None:
    assert not is_at_its_module(TESTS / "records" / "test_nothing_there.py")
    assert not is_at_its_module(TESTS / "nowhere" / "test_run.py")
    assert is_at_its_module(TESTS / "records" / "test_run_more.py")
