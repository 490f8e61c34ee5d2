"""A task of a killed driver writes state although a plan took its batch back: no row is wrong."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import holdfast
from tests.spark.running.projects import Made
from tests.spark.running.shapes import project, rows

pytestmark = pytest.mark.spark

SINK = "delta-append"
VERSION = 3
"""What the newest of three batches leaves."""


def run(made: Made) -> tuple[int, list[str]]:
    """Run the job; return the exit status and the codes of the findings."""
    answer = holdfast.run(project=made.file, raise_on_failure=False)
    return answer.exit_status, [one.code for one in answer.findings if one.code != "HF2614"]


def three_batches(folder: Path, shape: str) -> Made:
    """Make a job that has delivered three files, each in a batch of its own."""
    made = project(folder, shape, SINK)
    for _ in range(3):
        made.arrive(4)
    assert run(made) == (0, [])
    assert made.ids("job", "commits") == [0, 1, 2]
    return made


def state(made: Made, version: int) -> dict[str, bytes]:
    """Return the state files of a version, with their checksums."""
    folder = made.checkpoint("job") / "state"
    return {
        str(one.relative_to(folder)): one.read_bytes()
        for one in folder.rglob("*")
        if one.is_file() and one.name.lstrip(".").startswith((f"{version}.", f"{version}_"))
    }


def written_late(made: Made, files: dict[str, bytes]) -> None:
    """Write state as a task does that nobody has told of the plan."""
    for path, content in files.items():
        place = made.checkpoint("job") / "state" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)


def act(made: Made, remedy: str, **options: Any) -> None:
    """Plan and apply."""
    plan = holdfast.plan("job", remedy, options, project=made.file).result
    holdfast.apply(plan, project=made.file, even_if_running=True)


def until_version_again(made: Made) -> None:
    """Run batch 1, which has the files of two, and batch 2, which writes the version again."""
    assert run(made) == (0, [])
    made.arrive(4)
    assert run(made) == (0, [])
    assert made.ids("job", "commits") == [0, 1, 2]
    assert state(made, VERSION)


def groups(made: Made) -> Counter[Any]:
    """Return the rows that the numbers up to now make, each once."""
    return Counter((number, "group") for number in range(0, made._number, 3))


@pytest.mark.parametrize(
    ("remedy", "shape", "kind"),
    [
        ("replay", "distinct", "snapshot"),
        pytest.param("reset", "distinct", "snapshot", marks=pytest.mark.whole),
    ],
)
def test_state_that_came_after_the_batch_was_taken_back(
    spark: Any, tmp_path: Path, remedy: str, shape: str, kind: str
) -> None:
    """The start is refused: a later one would load it as if the new batches had written it."""
    made = three_batches(tmp_path / "made", shape)
    late = state(made, VERSION)
    if kind == "snapshot":
        # The only change of a query of one batch has what a snapshot of three batches has.
        other = project(tmp_path / "other", shape, SINK)
        other.arrive(made._number)
        assert run(other) == (0, [])
        late = {
            path.replace("1.delta", f"{VERSION}.snapshot"): content
            for path, content in state(other, 1).items()
        }
    assert any(path.endswith(f".{kind}") for path in late)
    options: dict[str, Any] = {"from_batch": 1} if remedy == "replay" else {"output": "clear"}
    act(made, remedy, **options)
    written_late(made, late)
    # Spark itself refuses state of a query that has no batch yet.
    assert run(made) == (30, ["HF2352" if remedy == "replay" else "HF3001"])
    codes = {one.code for one in holdfast.doctor("job", project=made.file).findings}
    assert ("HF2352" in codes, "HF2243" in codes) == (True, False)
    act(made, "clean")
    assert state(made, VERSION) == {}
    for _ in range(3):
        made.arrive(4)
        assert run(made) == (0, [])
    assert rows(spark, made, SINK) == groups(made)


@pytest.mark.whole
def test_state_that_is_named_by_its_commit_is_not_replaced(spark: Any, tmp_path: Path) -> None:
    """State checkpoint format 2: a late task writes files of other names, whenever it does."""
    made = three_batches(tmp_path / "made", "within-unique-ids")
    late = state(made, VERSION)
    act(made, "replay", from_batch=1)
    until_version_again(made)
    written_late(made, late)
    made.arrive(4)
    assert run(made) == (0, [])
    assert rows(spark, made, SINK) == groups(made)


@pytest.mark.whole
def test_state_of_a_fixed_name_is_replaced_as_the_plan_says(spark: Any, tmp_path: Path) -> None:
    """Nothing in the checkpoint tells that the task was late: a group comes twice."""
    made = three_batches(tmp_path / "made", "distinct")
    late = state(made, VERSION)
    plan = holdfast.plan("job", "replay", {"from_batch": 1}, project=made.file).result
    assert any("no executor of it is left" in note for note in plan.notes)
    holdfast.apply(plan, project=made.file, even_if_running=True)
    until_version_again(made)
    written_late(made, late)
    made.arrive(4)
    assert run(made) == (0, [])
    assert rows(spark, made, SINK) - groups(made) == Counter({(15, "group"): 1})
