"""The demo of damages: ends well, fits the screen, shows what it promises, and writes nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import holdfast
from tests.docs.pages import REPOSITORY
from tests.docs.session import environment

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SCRIPT = REPOSITORY / "demo" / "damage_a_copy.py"
SAMPLE = REPOSITORY / "demo" / "orders"


@pytest.fixture(scope="module")
def shown() -> str:
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        cwd=REPOSITORY,
        env=environment({}),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stderr == b""
    return done.stdout.decode()


def test_it_fits_eighty_columns(shown: str) -> None:
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_it_shows_the_sample_and_three_accidents(shown: str) -> None:
    assert "The next start runs batch 5 again" in shown
    assert [f"Accident {number}" in shown for number in (1, 2, 3)] == [True] * 3
    assert [code in shown for code in ("HF2203", "HF2105", "HF2201")] == [True] * 3
    assert "Nothing, neither to the sample nor to a copy." in shown


def test_no_accident_stays_in_the_sample() -> None:
    answer = holdfast.inspect(SAMPLE, verify=True)
    assert answer.findings == ()
    assert answer.result.next_start.action.value == "rerun"
    assert answer.result.batches.pending == 5
    assert answer.result.watermark_ms is not None


def test_it_runs_from_any_folder(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT)],
        cwd=tmp_path,
        env=environment({}),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert list(tmp_path.iterdir()) == []


def test_the_package_ships_the_sensor_pipeline() -> None:
    with (REPOSITORY / "pyproject.toml").open("rb") as file:
        wheel = tomllib.load(file)["tool"]["hatch"]["build"]["targets"]["wheel"]
    sensors = REPOSITORY / "examples" / "sensors"
    sources = sorted(
        path.name for path in sensors.iterdir() if path.suffix in (".md", ".py", ".yaml")
    )
    assert wheel["force-include"] == {
        f"examples/sensors/{name}": f"holdfast/demonstration/sensors/{name}" for name in sources
    }
