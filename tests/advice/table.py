"""The table of advice: each next step of each code, the situation, what came of following it.

A step has a proof of one of these kinds:

- spark: a program of `programs` makes the situation on real Spark, follows the step and starts once
  more; the record keeps the step's text, so that another text needs another run;
- files: a real checkpoint is backed up, damaged and put back, and is byte-identical after that;
- record: a real start that tests/restarts or tests/diagnosis/doctor/trials have recorded shows it;
- test: a test does exactly this;
- reads: the step changes nothing; commands of Holdfast that it names are run by a test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

from holdfast.codes import CODES, Code
from tests.advice import proofs
from tests.advice.files import restoring_step
from tests.advice.loading import records
from tests.advice.raised import GAP, raised_by_code
from tests.diagnosis.doctor.trials.loading import record_named


class Kind(str, Enum):
    """How a step was proved."""

    SPARK = "spark"
    FILES = "files"
    RECORD = "record"
    TEST = "test"
    READS = "reads"


@dataclass(frozen=True)
class Followed:
    """One step, followed in one situation."""

    code: str
    step: str
    situation: str
    kind: Kind
    record: str
    """The program, the recorded start or the test; for what only reads, the reason."""
    outcome: str
    wrong: bool = False
    """The step warns of it: the harm is what is recorded."""


IN_FULL = re.compile(r"HF2[1-4]\d\d|HF30\d\d")
"""Codes that findings and refusals of a start carry: each step has a proof."""


@cache
def steps(code: Code) -> tuple[str, ...]:
    """Return every step that may be printed with a code, also those written where it is raised."""
    known = (*code.next_steps, *proofs.SPOKEN.get(code.number, ()))
    written = (one for one in raised_by_code().get(code.number, ()) if not _is_one_of(one, known))
    return tuple(dict.fromkeys((*known, *written)))


def _is_one_of(written: str, known: tuple[str, ...]) -> bool:
    """Tell whether a text is a known one, but for the gaps that are filled when it is printed."""
    pattern = ".+".join(map(re.escape, written.split(GAP)))
    return any(re.fullmatch(pattern, one) for one in known)


@cache
def table() -> tuple[Followed, ...]:
    """Return every step that is proved, in the order of the codes."""
    return tuple(one for code in CODES for step in steps(code) for one in _proofs(code, step))


def unproved() -> list[tuple[str, str]]:
    """Name the steps that need a proof and have none."""
    proved = {(one.code, one.step) for one in table()}
    return [
        (code.number, step)
        for code in CODES
        for step in steps(code)
        if (code.number, step) not in proved
    ]


def _proofs(code: Code, step: str) -> Iterator[Followed]:
    yield from _spark(code.number, step)
    yield from _restored(code.number, step)
    for name in proofs.RECORDS.get((code.number, step), ()):
        seen = record_named(name)
        outcome = seen.step or seen.outcome
        yield Followed(code.number, step, name, Kind.RECORD, name, outcome, _warns(step))
    if (test := proofs.test_of(code.number, step)) is not None:
        yield Followed(code.number, step, test.situation, Kind.TEST, test.name, test.outcome)
    if (reason := proofs.reading(code.number, step)) is not None:
        yield Followed(code.number, step, "any", Kind.READS, reason, "nothing changes")


def _spark(code: str, step: str) -> Iterator[Followed]:
    for one in records():
        if [code, step] in one["steps"]:
            name, situation = one["followed"], one["situation"]
            yield Followed(
                code, step, situation, Kind.SPARK, name, outcome_of(one), one.get("wrong", False)
            )


def outcome_of(record: dict[str, object]) -> str:
    """Say what came of a start, with the rows where some are lost or doubled."""
    parts = [
        f"{record[key]} of {record['rows']} rows {key}"
        for key in ("missing", "doubled")
        if record.get(key)
    ]
    if record["outcome"] == "fails":
        return f"the start fails: {record['error_class']}"
    return ", ".join(parts) or str(record["outcome"])


def _restored(code: str, step: str) -> Iterator[Followed]:
    put_back = proofs.restored_situations()
    names = put_back.get(f"{code}: {step}", ())
    if restoring_step(step):
        names = (*names, *put_back.get("HF27xx" if code.startswith("HF27") else code, ()))
    for name in names:
        yield Followed(code, step, name, Kind.FILES, name, "byte-identical, goes on")


def _warns(step: str) -> bool:
    return "do not " in step
