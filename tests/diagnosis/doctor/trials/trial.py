"""Says what a trial is: a situation of the field, made with real Spark and then started again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.diagnosis.doctor.trials.bench import Bench

Try = Callable[[Bench], None]


@dataclass(frozen=True)
class Trial:
    """One situation; the last start in its function is the one that is judged."""

    how: str
    function: Try
    since: str = "3.5"
    until: str = "4.9"
    needs: str = ""
    """`jars` (Delta and Kafka's connector), `broker` (both and a running Kafka), or nothing."""

    @property
    def name(self) -> str:
        """The function's name, with dashes."""
        return self.function.__name__.replace("_", "-")

    def fits(self, version: str, *, jars: bool) -> bool:
        """Tell whether this Spark can be tried so; jars are there for one release alone."""
        return self.since <= version[:3] <= self.until and (jars or not self.needs)


TRIALS: list[Trial] = []


def tries(
    how: str, *, since: str = "3.5", until: str = "4.9", needs: str = ""
) -> Callable[[Try], Try]:
    """Register a trial."""

    def register(function: Try) -> Try:
        TRIALS.append(Trial(how, function, since, until, needs))
        return function

    return register
