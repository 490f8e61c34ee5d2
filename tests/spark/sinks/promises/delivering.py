"""What the promises are tried with: batches of plain rows, and what is there afterwards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import pytest

from holdfast import crashpoints
from holdfast.errors import SinkError
from tests.drawing import draw_one_per_group
from tests.spark.sinks.deliveries import identity
from tests.spark.sinks.plainreading import Place, Rows
from tests.spark.sinks.subjects import SUBJECTS, Subject

SCHEMA = "n long, k string"
BATCHES: tuple[tuple[tuple[int, str], ...], ...] = (
    ((1, "a"), (2, "b"), (3, "ü")),
    ((4, "c"), (5, "d")),
    ((6, "e"),),
)
"""No two rows of one key: appended or upserted, they make the same table."""


def subjects_with(
    wanted: Callable[[Subject], object],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test over some of the sinks, or over one of each kin where it is drawn."""
    some = [subject for subject in SUBJECTS if wanted(subject)]
    name: Callable[[Any], str] = attrgetter("name")
    return draw_one_per_group("subject", some, ids=name, group=attrgetter("kin"))


every_subject = subjects_with(lambda _: True)


@dataclass
class Tried:
    """One sink under test at a place of its own."""

    spark: Any
    subject: Subject
    place: Place
    _kept: list[Any] = field(default_factory=list)

    def opened(self) -> Any:
        """Open the sink as a new driver does; what does not outlive a process is opened once."""
        if self._kept and not self.subject.outlives:
            return self._kept[0]
        self._kept.append(self.subject.opened(self.spark, self.place))
        if not self.subject.outlives:
            self._kept[0].prepare(self.batch(0).schema, begun=False)
        return self._kept[-1]

    def batch(self, number: int) -> Any:
        """Give a batch in two tasks."""
        return self.spark.createDataFrame(list(BATCHES[number]), SCHEMA).repartition(2)

    def rows(self) -> Rows:
        """Give what a plain reader sees."""
        return self.subject.reads(self.place, ("n", "k"))

    def state(self, *numbers: int) -> Rows:
        """Give what has to be there after these batches."""
        held = numbers[-1:] if self.subject.mode == "complete" else numbers
        return Counter(row for number in held for row in BATCHES[number])

    def filled(self, count: int) -> Any:
        """Open the sink and deliver the first batches."""
        sink = self.opened()
        for number in range(count):
            assert not sink.write(self.batch(number), identity(number)).skipped
        return sink

    def seen(self) -> tuple[Rows, list[int]]:
        """Give all that must stay as it is where nothing may be written."""
        return self.rows(), self.subject.ledger(self.place)


def refused(act: Callable[[], object]) -> str:
    """Give the code of the error with which a sink refuses to act."""
    with pytest.raises(SinkError) as caught:
        act()
    assert caught.value.message and caught.value.next_steps
    return caught.value.code.number


def outcome(act: Callable[[], Any]) -> str:
    """Give `written` or `skipped`, or the code with which it was refused."""
    try:
        return "skipped" if act().skipped else "written"
    except SinkError as error:
        return error.code.number


def at_point(monkeypatch: pytest.MonkeyPatch, point: str, act: Callable[[], object]) -> None:
    """Let something happen the first time that a point is passed, instead of an end."""

    def once() -> None:
        monkeypatch.undo()
        act()

    monkeypatch.setattr(crashpoints, "_wanted", point)
    monkeypatch.setattr(crashpoints, "_time", "")
    monkeypatch.setattr(crashpoints, "_reached", Counter())
    monkeypatch.setattr(crashpoints, "_die", once)
