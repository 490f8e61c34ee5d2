"""A matrix is drawn evenly, runs whole when asked, and never hides a test that is named."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from tests.corpus.loading import corpus
from tests.drawing import moments, seeds

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


RELEASES = """
RELEASES = [f"{shape}{release}" for release in range(3) for shape in "abcd"]
over_releases = draw_one_per_group(
    "one", RELEASES, ids=str, group=lambda one: one[0], staggered=True
)

@over_releases
def test_first(one): ...

@over_releases
def test_second(one): ...

@over_releases
def test_third(one): ...
"""


def test_staggered_groups_let_every_test_meet_every_value_of_the_other_kind(matrix: Path) -> None:
    """Each test has every shape and every release; together they have every pair."""
    (matrix / "test_matrix.py").write_text(MATRIX + RELEASES)
    pairs = [name.rstrip("]").split("[") for name in collected(matrix)]
    for test in ("test_first", "test_second", "test_third"):
        drawn = [value for name, value in pairs if name == test]
        assert sorted(value[0] for value in drawn) == ["a", "b", "c", "d"]
        assert {value[1] for value in drawn} == {"0", "1", "2"}
    assert len({value for _, value in pairs}) == len(pairs) == 12


def test_the_corpus_is_drawn_so_that_every_test_meets_every_shape_and_release() -> None:
    """The tests over all checkpoints, as a run of everything draws them."""
    root = Path(__file__).parents[1]
    words = [sys.executable, "-m", "pytest", "-q", "--collect-only", "tests/checkpoint"]
    run = subprocess.run(words, cwd=root, capture_output=True, text=True, check=True)
    shapes = {one.name for one in corpus()}
    releases = {one.spark for one in corpus()}
    for test in ("test_reading.py::test_", "test_reading_overview.py::test_"):
        names = [line for line in run.stdout.splitlines() if test in line and "@" in line]
        drawn = [line.partition("[")[2].rstrip("]").split("@") for line in names]
        assert sorted(shape for shape, _ in drawn) == sorted(shapes)
        assert {release for _, release in drawn} == releases


def met(*traits: int, every: int) -> set[int]:
    """Return which of the first 30 moments a case meets."""
    return {one for one in islice(moments(*traits, whole=False, every=every), 30) if one <= 30}


def test_the_cases_of_a_test_meet_every_moment_together() -> None:
    """Also the cases that have one value in common; with `--whole` each meets all of them."""
    everything = set(range(1, 31))
    assert met(0, every=3) | met(1, every=3) | met(5, every=3) == everything
    for one in range(2):
        assert met(one, 0, every=2) | met(one, 1, every=2) == everything
        assert met(0, one, every=2) | met(1, one, every=2) == everything
        assert met(one, 0, every=2) & met(one, 1, every=2) == set()
    assert set(islice(moments(1, whole=True), 30)) == everything


def test_the_first_seeds_are_drawn_and_the_others_are_for_the_whole() -> None:
    drawn, more = seeds(5, drawn=2)[:2], seeds(5, drawn=2)[2:]
    assert drawn == [0, 1] and [one.values for one in more] == [(2,), (3,), (4,)]
    assert all(mark.name == "whole" for one in more for mark in one.marks)
