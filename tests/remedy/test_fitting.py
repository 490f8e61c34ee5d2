"""The doctor names a plan where it would succeed, and none where it would be refused."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

import holdfast
from tests.cli.running import holdfast as command
from tests.remedy.repairing import Place, made


def advised(place: Place) -> list[str]:
    answer = holdfast.doctor(place.root, sink=place.sink)
    (target,) = answer.result.targets
    shown = [step for one in target.findings for step in one.next if "holdfast plan" in step]
    assert set(shown) == {
        step for one in answer.findings for step in one.next_steps if "holdfast plan" in step
    }
    # What has words before it is a choice: nothing is wrong without it.
    return [step for step in dict.fromkeys(shown) if step.startswith("holdfast plan")]


@pytest.mark.parametrize(
    ("base", "damage", "held", "finding"),
    [
        ("stateless-pending", "offset-empty", 3, "HF2101"),
        ("stateless", "commit-garbage", 4, "HF2104"),
        ("stateless", "crc-ahead-in-commits", 4, "HF2210"),
    ],
)
def test_what_is_advised_succeeds_and_leaves_nothing_to_advise(
    tmp_path: Path, base: str, damage: str, held: int, finding: str
) -> None:
    place = made(tmp_path, base)
    place.deliver(held)
    place.damage(damage)
    before = place.files()

    (step,) = advised(place)

    assert f"--finding {finding}" in step
    assert place.files() == before
    planned = command(*shlex.split(step)[1:], "-o", str(tmp_path / "plan.json"))
    assert planned.status == 0, planned.err
    applied = command("apply", str(tmp_path / "plan.json"), "--yes", "--even-if-running")
    assert applied.status == 0, applied.err
    assert advised(place) == []


@pytest.mark.parametrize(
    ("base", "damage", "held"),
    [
        ("stateless-pending", "offset-empty", 4),
        ("stateless", "offset-empty", 3),
        ("stateless", "newest-offset-missing", 4),
        ("stateless", "commit-garbage", 5),
    ],
)
def test_nothing_is_advised_that_is_refused(
    tmp_path: Path, base: str, damage: str, held: int
) -> None:
    place = made(tmp_path, base)
    place.deliver(held)
    place.damage(damage)
    assert advised(place) == []


def test_the_plan_is_the_first_of_the_next_steps_in_json(tmp_path: Path) -> None:
    place = made(tmp_path, "stateless")
    place.deliver(4)
    place.damage("commit-empty")
    shown = command("doctor", str(place.root), "--sink", str(place.sink), "--json")
    document = json.loads(shown.out)
    assert document["next"][0].startswith("holdfast plan repair ")
    (fatal,) = (one for one in document["findings"] if one["code"] == "HF2101")
    assert fatal["next"][0] == document["next"][0]
