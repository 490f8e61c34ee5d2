"""How much of the state the doctor reads without being asked to."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

_MEGABYTE = 1 << 20


@dataclass
class Budget:
    """So many bytes and seconds; the time runs from the moment at which it is made."""

    most_bytes: int = 64 * _MEGABYTE
    most_seconds: float = 2.0
    clock: Callable[[], float] = time.monotonic
    _began: float = field(init=False)

    def __post_init__(self) -> None:
        """Look at the clock for the first time."""
        self._began = self.clock()

    def is_over(self) -> bool:
        """Tell whether the time is used up."""
        return self.clock() - self._began >= self.most_seconds

    @property
    def no_bytes(self) -> str:
        """Say that files were left out for their size."""
        return f"without --verify at most {self.most_bytes // _MEGABYTE:,} MB of state are read"

    @property
    def no_time(self) -> str:
        """Say that files were left out for the time."""
        return f"without --verify state is read for at most {self.most_seconds:g} s"
