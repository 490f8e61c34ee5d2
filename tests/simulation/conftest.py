"""Makes everything ready for simulating."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.simulation.simulating import simulation


@pytest.fixture
def simulated_world() -> Iterator[None]:
    with simulation():
        yield
