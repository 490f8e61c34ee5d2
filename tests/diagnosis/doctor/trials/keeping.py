"""A stateful processor that keeps a count per key and gives the key back."""

# The names of methods and arguments are pyspark's.
# ruff: noqa: N802, N803

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas
from pyspark.sql.streaming.stateful_processor import StatefulProcessor


class Keeping(StatefulProcessor):
    """Counts the rows of a key."""

    def init(self, handle: Any) -> None:
        """Declares the variable."""
        self.count = handle.getValueState("count", "count long")

    def handleInputRows(
        self, key: Any, rows: Iterator[pandas.DataFrame], timerValues: Any
    ) -> Iterator[pandas.DataFrame]:
        """Adds the rows of a key to its count."""
        before = self.count.get()[0] if self.count.exists() else 0
        self.count.update((before + sum(len(frame) for frame in rows),))
        yield pandas.DataFrame({"value": [key[0]]})

    def close(self) -> None:
        """Has nothing to close."""
