"""What `holdfast.start` warns of and raises points at the line of the program that called it."""

from __future__ import annotations

import inspect
import warnings
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.errors import HoldfastError
from holdfast.findings import Finding, Place, Severity
from holdfast.spark import run

HERE = str(Path(__file__).resolve())


def test_a_warning_points_at_the_line_that_called(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """However many frames of ours are in between."""
    found = Finding("HF3011", Severity.WARNING, "the sink was emptied", Place(""))
    space: dict[str, Any] = {"__name__": run.__name__, "warn": run._warn, "found": found}
    exec("def start_query(*_):\n    warn((found,))\n", space)
    monkeypatch.setattr(run, "start_query", space["start_query"])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
        holdfast.start(frame(), job="orders", checkpoint=tmp_path / "c", sink=print,
                       accept=["temporary-path"])  # fmt: skip
    (warned,) = caught
    assert (warned.filename, warned.lineno) == (HERE, line)


@pytest.mark.parametrize(
    ("changes", "code"), [({"accept": ["no-such-name"]}, "HF1001"), ({}, "HF5118")], ids=str
)
def test_an_error_without_a_place_points_there_too(
    tmp_path: Path, changes: dict[str, Any], code: str
) -> None:
    """A name that nobody accepts, and a thing that is no DataFrame."""
    given = {"accept": ["temporary-path"], **changes}
    with pytest.raises(HoldfastError) as raised:
        line = inspect.currentframe().f_lineno + 1  # type: ignore[union-attr]
        holdfast.start(frame(), job="orders", checkpoint=tmp_path / "c", sink=print, **given)
    assert raised.value.code.number == code
    assert (raised.value.at or "").endswith(f"{Path(HERE).name}:{line}")


def frame() -> Any:
    """Give what is no DataFrame."""
    return object()
