"""Makes case N of a seed: always the same damage, whatever was made before it."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.fuzz.bases import Base, bases
from tests.fuzz.drawing import Drawing
from tests.fuzz.operators import OPERATORS, name_of

_ATTEMPTS = 50


@dataclass(frozen=True)
class Case:
    """One damaged checkpoint."""

    number: int
    operator: str
    base: Base
    files: dict[str, bytes]


def make_case(seed: int, number: int) -> Case:
    """Damage some checkpoint with the operator whose turn it is."""
    choose = random.Random(f"{seed}/{number}")
    operator = OPERATORS[number % len(OPERATORS)]
    for _ in range(_ATTEMPTS):
        base = choose.choice(bases())
        drawing = Drawing(base.files, choose, lambda: choose.choice(bases()).files)
        damaged = operator(drawing)
        if damaged is not None and damaged != base.files:
            return Case(number, name_of(operator), base, damaged)
    raise AssertionError(f"{name_of(operator)} found nothing to damage in {_ATTEMPTS} checkpoints")
