"""Says what a field case is: a situation made with real parts, examined, and really started."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.fieldcases.bench import CaseBench

Start = Callable[[], None]
Starts = tuple[Start, Start | None]
Make = Callable[[CaseBench], Starts]


@dataclass(frozen=True)
class Case:
    """One situation.

    Its function makes it, has it examined, and returns two starts: the one that is judged, and one
    on the same files that follows the advised next step, where there is one to follow.
    """

    number: int
    how: str
    function: Make
    needs: str = ""
    """`jars` (Delta and Kafka's connector), `broker` (both and a running Kafka), `database`
    (a running H2), `s3` (Hadoop's client of S3), or nothing."""

    @property
    def name(self) -> str:
        """The function's name, with dashes."""
        return self.function.__name__.replace("_", "-")


CASES: list[Case] = []


def case(number: int, how: str, *, needs: str = "") -> Callable[[Make], Make]:
    """Register a case under its number in the list of field cases."""

    def register(function: Make) -> Make:
        CASES.append(Case(number, how, function, needs))
        return function

    return register
