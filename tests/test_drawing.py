"""A matrix is drawn evenly, runs whole when asked, and never hides a test that is named."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

MATRIX = """
import pytest
from tests.drawing import draw, draw_one_per_group

over_all = draw_one_per_group("word", ["a1", "a2", "a3", "b1"], ids=str, group=lambda w: w[0])

"""
CONFTEST = """
from tests import drawing

def pytest_addoption(parser):
    parser.addoption("--whole", action="store_true")

def pytest_collection_modifyitems(config, items):
    drawing.select(config, items)
"""


@pytest.fixture
def matrix(tmp_path: Path) -> Path:
    """Write six tests over two groups of words, and one that is no matrix."""
    tests = [f"@over_all\ndef test_{number}(word): ...\n" for number in range(6)]
    (tmp_path / "test_matrix.py").write_text(MATRIX + "\n".join(tests) + "def test_alone(): ...\n")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    return tmp_path


def collected(folder: Path, *options: str) -> list[str]:
    """Return the ids of the tests that a run would run."""
    words = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-W", "ignore", *options]
    root = Path(__file__).parents[1]
    run = subprocess.run(
        [*words, "-c", "/dev/null", "--rootdir", str(folder)],
        cwd=folder,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        check=False,
    )
    return [line.partition("::")[2] for line in run.stdout.splitlines() if "::" in line]


def test_each_test_meets_each_group_and_each_value_is_met(matrix: Path) -> None:
    """One of `a` and the one of `b` for every test; the values of `a` take turns."""
    found = collected(matrix)
    words = Counter(name.partition("[")[2] for name in found)
    assert words == {"": 1, "a1]": 2, "a2]": 2, "a3]": 2, "b1]": 6}
    assert len({name.partition("[")[0] for name in found}) == 7


TWO_PARAMETERS = """
@draw("mode", "ahead")
@pytest.mark.parametrize("mode", ["append", "upsert"])
@pytest.mark.parametrize("ahead", [1, 2])
@pytest.mark.parametrize("point", ["before", "between", "after"])
def test_late(mode, ahead, point): ...

@pytest.mark.whole
def test_once_more(): ...
"""


def test_parameters_are_drawn_together_and_what_is_for_the_whole_is_left_out(matrix: Path) -> None:
    """Every point is met, each with other values; nothing is left out when all is asked for."""
    with (matrix / "test_matrix.py").open("a") as file:
        file.write(TWO_PARAMETERS)
    found = [name for name in collected(matrix) if "late" in name or "once" in name]
    assert [name.partition("[")[2] for name in found] == [
        "before-1-append]",
        "between-1-upsert]",
        "after-2-append]",
    ]
    whole = collected(matrix, "--whole")
    assert sum("late" in name for name in whole) == 12 and "test_once_more" in whole


def test_all_of_it_runs_when_asked(matrix: Path) -> None:
    """By the option, or because a test is named."""
    assert len(collected(matrix, "--whole")) == 6 * 4 + 1
    assert collected(matrix, "test_matrix.py::test_0[a2]") == ["test_0[a2]"]
