"""The part of the crash audit that every change has to pass; `make audit` runs all of it."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest

from tests.crashes.__main__ import SEED
from tests.crashes.auditing import Killing, killing
from tests.crashes.cases import Case, drawn_cases
from tests.crashes.controls import CONTROLS, Control, try_control
from tests.crashes.running import finish
from tests.crashes.sessions import MASTER
from tests.drawing import draw_one_per_group
from tests.spark.sinks.databases import databases_on

pytestmark = [pytest.mark.spark, pytest.mark.audit]

DRAWN = drawn_cases(SEED)


@pytest.fixture(scope="module")
def begun(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    spark: Any,
    postgres: str,
    h2: str,
) -> Iterator[Killing]:
    """Begin to kill the cases that were asked for, side by side, while others are ended."""
    asked = {item.name for item in request.session.items}
    wanted = [
        case for case in DRAWN if f"{test_every_row_is_there_once.__name__}[{case.name}]" in asked
    ]
    folder: Path = tmp_path_factory.mktemp("audit")
    with (
        databases_on(postgres, h2) as databases,
        killing(wanted, SEED, folder, databases.place, MASTER) as killed,
    ):
        yield killed


@pytest.mark.parametrize("case", DRAWN, ids=[case.name for case in DRAWN])
def test_every_row_is_there_once(begun: Killing, case: Case) -> None:
    """A real run dies at the point, a plain reader sees no row twice, and the next run ends it."""
    verdict = finish(begun[case.name].result())
    assert not verdict.told, f"{verdict.told}; again: {verdict.command}"
    assert verdict.kills == (2 if case.occasion == "twice" else 1)


@draw_one_per_group("control", CONTROLS, ids=attrgetter("function"), group=attrgetter("crime"))
def test_a_broken_sink_is_convicted(spark: Any, tmp_path: Path, control: Control) -> None:
    """The judge is judged: of what each is guilty, in real runs."""
    told = try_control(control, tmp_path, MASTER)
    assert any(words.startswith(control.crime) for words in told), told
