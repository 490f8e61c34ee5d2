"""Stateful processors for transformWithState: every kind of state variable, timers, TTL."""

# The names of methods and arguments are pyspark's.
# ruff: noqa: N802, N803

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

HOUR_MS = 3_600_000


class Variables(StatefulProcessor):
    """Keeps a value, a list and a map per key, plain and with a time to live."""

    time_to_live: int | None = None

    def init(self, handle: Any) -> None:
        """Declares the variables."""
        self.handle = handle
        ttl = self.time_to_live
        self.total = handle.getValueState("total", "total long", ttl)
        self.values = handle.getListState("values", "value long, note string", ttl)
        self.by_parity = handle.getMapState("by_parity", "parity string", "count long", ttl)

    def keep(self, numbers: list[int]) -> int:
        """Adds numbers to all three variables and returns the new total."""
        total = (self.total.get()[0] if self.total.exists() else 0) + sum(numbers)
        self.total.update((total,))
        for number in numbers:
            self.values.appendValue((number, f"n{number}"))
            parity = ("even" if number % 2 == 0 else "odd",)
            known = self.by_parity.containsKey(parity)
            count = self.by_parity.getValue(parity)[0] if known else 0
            self.by_parity.updateValue(parity, (count + 1,))
        return total

    def set_timer(self, timers: Any) -> None:
        """Sets no timer; the subclasses with timers do."""

    def close(self) -> None:
        """Has nothing to close."""


class PandasVariables(Variables):
    """The variables behind transformWithStateInPandas."""

    def handleInputRows(
        self, key: Any, rows: Iterator[pandas.DataFrame], timerValues: Any
    ) -> Iterator[pandas.DataFrame]:
        """Keeps the rows of one key."""
        numbers = [int(value) for frame in rows for value in frame["value"]]
        self.set_timer(timerValues)
        yield pandas.DataFrame({"key": [key[0]], "total": [self.keep(numbers)]})

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[pandas.DataFrame]:
        """Says that a timer went off."""
        yield pandas.DataFrame({"key": [key[0]], "total": [-1]})


class RowVariables(Variables):
    """The variables behind transformWithState, the row interface."""

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        """Keeps the rows of one key."""
        total = self.keep([row["value"] for row in rows])
        self.set_timer(timerValues)
        yield Row(key=key[0], total=total)

    def handleExpiredTimer(
        self, key: Any, timerValues: Any, expiredTimerInfo: Any
    ) -> Iterator[Row]:
        """Says that a timer went off."""
        yield Row(key=key[0], total=-1)


class PandasMoreVariables(PandasVariables):
    """Adds a variable, as a later version of the code would."""

    def init(self, handle: Any) -> None:
        """Declares one more variable."""
        super().init(handle)
        self.batches = handle.getValueState("batches", "batches int")

    def keep(self, numbers: list[int]) -> int:
        """Counts the calls, too."""
        self.batches.update(((self.batches.get()[0] if self.batches.exists() else 0) + 1,))
        return super().keep(numbers)


class PandasTimers(PandasVariables):
    """Adds a processing-time timer in an hour."""

    def set_timer(self, timers: Any) -> None:
        """Sets the timer."""
        self.handle.registerTimer(timers.getCurrentProcessingTimeInMs() + HOUR_MS)


class PandasTimeToLive(PandasTimers):
    """Adds a time to live of an hour to every variable."""

    time_to_live = HOUR_MS


class PandasEventTimers(PandasVariables):
    """Adds an event-time timer an hour after the watermark."""

    def set_timer(self, timers: Any) -> None:
        """Sets the timer."""
        self.handle.registerTimer(timers.getCurrentWatermarkInMs() + HOUR_MS)


class RowTimeToLive(RowVariables):
    """Adds a time to live and a processing-time timer, each of an hour."""

    time_to_live = HOUR_MS

    def set_timer(self, timers: Any) -> None:
        """Sets the timer."""
        self.handle.registerTimer(timers.getCurrentProcessingTimeInMs() + HOUR_MS)
