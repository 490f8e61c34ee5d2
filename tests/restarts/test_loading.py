"""Proves that the recorded truth can be replayed without Spark."""

from pathlib import Path

import pytest

from tests.restarts.archive import read_zip, write_zip
from tests.restarts.bases import base_named
from tests.restarts.damages import DAMAGES, damage_named
from tests.restarts.loading import HERE, Truth, damaged_files, drawn_truths, truths

TRUTHS = truths()
ACTIONS = {"fresh", "plan", "rerun", "replan", "fail", "idle", "hang"}


def test_names_of_damages_are_unique() -> None:
    assert len({damage.name for damage in DAMAGES}) == len(DAMAGES)


@pytest.mark.parametrize("spark", sorted({truth.spark for truth in TRUTHS}))
def test_every_truth_can_be_replayed(spark: str) -> None:
    for truth in [truth for truth in TRUTHS if truth.spark == spark]:
        assert truth.action in ACTIONS
        assert damage_named(truth.damage).applies(base_named(truth.base))
        files = damaged_files(truth)
        assert not any(path.startswith(("/", "../")) for path in files)


def test_what_is_drawn_has_every_damage_of_every_base_and_every_version() -> None:
    drawn = drawn_truths()
    pairs = {(truth.base, truth.damage) for truth in TRUTHS}
    assert {(truth.base, truth.damage) for truth in drawn} == pairs
    assert len(drawn) == len(pairs) < len(TRUTHS) / 2
    assert {(truth.spark, truth.base) for truth in drawn} == {
        (truth.spark, truth.base) for truth in TRUTHS
    }


def test_undamaged_checkpoints_continue() -> None:
    undamaged = [truth for truth in TRUTHS if truth.damage == "none"]
    assert all(_continues(truth) for truth in undamaged if truth.base != "async-gaps")


def test_a_failure_has_a_class() -> None:
    assert all((truth.action == "fail") == (truth.error_class is not None) for truth in TRUTHS)


def test_zips_are_deterministic(tmp_path: Path) -> None:
    packed = next(iter(sorted(HERE.glob("bases/*/*.zip"))))
    again = tmp_path / "again.zip"
    write_zip(read_zip(packed), again)
    assert again.read_bytes() == packed.read_bytes()


def _continues(truth: Truth) -> bool:
    return truth.action == ("rerun" if base_named(truth.base).pending else "plan")
