"""What is put back from a backup is byte-identical; a seeded handful of all situations."""

from __future__ import annotations

import random

import pytest

from tests.advice.damages import MOVES, SPARK, Move, Situation, situations
from tests.advice.filerecord import moved_back, put_back
from tests.advice.proofs import restored_situations
from tests.diagnosis.doctor.trials.loading import WELL, record_named

HANDFUL = random.Random(14).sample(situations(), 8)


@pytest.mark.parametrize("situation", HANDFUL, ids=lambda one: f"{one.code}-{one.name}")
def test_a_restored_checkpoint_is_what_spark_wrote(situation: Situation) -> None:
    """All of them: python -m tests.advice.filerecord."""
    assert put_back(situation) == ""


@pytest.mark.parametrize("move", MOVES, ids=lambda one: f"{one.code}-{one.name}")
def test_what_is_moved_as_advised_leaves_what_spark_wrote(move: Move) -> None:
    assert moved_back(move) == ""


def test_every_situation_was_put_back() -> None:
    """The record has all of them, and no other."""
    recorded = restored_situations()
    wanted: dict[str, list[str]] = {}
    for one in situations():
        wanted.setdefault(one.code, []).append(one.name)
    for move in MOVES:
        wanted.setdefault(f"{move.code}: {move.step}", []).append(move.name)
    assert {code: tuple(names) for code, names in wanted.items()} == recorded


def test_the_undamaged_bases_go_on_well() -> None:
    """Which is what a byte-identical checkpoint does."""
    bases = {one.name.split("/")[1] for one in situations() if one.name.startswith(f"{SPARK}/")}
    for base in bases:
        assert record_named(f"{SPARK}/{base}/none").outcome == WELL, base
