"""Examines again and again, and tells only what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from holdfast.answers import Answer
from holdfast.diagnosis.doctor.examination import Examination, Reported


@dataclass(frozen=True)
class Change:
    """One finding that came or went at a target."""

    location: str
    appeared: bool
    finding: Reported


def watch(
    look: Callable[[], Answer[Examination]], wait: Callable[[], None]
) -> Iterator[tuple[Answer[Examination], tuple[Change, ...]]]:
    """Look, tell, wait, for ever; the first look tells everything that it found."""
    before: dict[tuple[str, str, str], Reported] = {}
    while True:
        answer = look()
        now = _by_place(answer)
        came = [Change(key[0], True, one) for key, one in now.items() if key not in before]
        went = [Change(key[0], False, one) for key, one in before.items() if key not in now]
        yield answer, (*came, *went)
        before = now
        wait()


def _by_place(answer: Answer[Examination]) -> dict[tuple[str, str, str], Reported]:
    """A finding is the same while target, code and place are; its numbers may move."""
    return {
        (target.location, one.code, one.at): one
        for target in answer.result.targets
        for one in target.findings
    }
