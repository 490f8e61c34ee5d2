"""Says what following a step is: a situation, the step done literally, one more start."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tests.advice.bench import AdviceBench

Follow = Callable[[AdviceBench], None]
Step = tuple[str, str]
"""A code, and one of its next steps word for word."""
WRONG = "a wrong fix"
"""In place of a code: the text is one of `holdfast.diagnosis.doctor.wrongfixes`."""


@dataclass(frozen=True)
class Following:
    """One situation in which a step is followed; the last start of its function is judged."""

    steps: tuple[Step, ...]
    situation: str
    function: Follow
    wrong: bool
    """A fix that is warned of, and not advised: it has to do the harm that is printed."""
    unreported: str
    """Why the doctor is not asked in this situation."""
    needs: str

    @property
    def name(self) -> str:
        """The function's name, with dashes."""
        return self.function.__name__.replace("_", "-")

    @property
    def codes(self) -> tuple[str, ...]:
        """The codes whose steps are followed."""
        return tuple(dict.fromkeys(code for code, _ in self.steps))


FOLLOWINGS: list[Following] = []


def follows(
    *steps: Step, when: str, unreported: str = "", needs: str = ""
) -> Callable[[Follow], Follow]:
    """Register a function that follows these steps."""
    return _registering(steps, when, unreported, needs, wrong=False)


def wrongly(
    *steps: Step, when: str, unreported: str = "not asked: the harm is what is measured",
    needs: str = "",
) -> Callable[[Follow], Follow]:  # fmt: skip
    """Register a function that does what these texts warn of."""
    return _registering(steps, when, unreported, needs, wrong=True)


def _registering(
    steps: tuple[Step, ...], when: str, unreported: str, needs: str, *, wrong: bool
) -> Callable[[Follow], Follow]:
    def register(function: Follow) -> Follow:
        FOLLOWINGS.append(Following(steps, when, function, wrong, unreported, needs))
        return function

    return register
