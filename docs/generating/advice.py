"""The page of advice: each next step, the situation it was executed in, and the outcome."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from docs.generating.markdown import page, sentence, table
from holdfast.codes import CODES, code_of
from holdfast.diagnosis.doctor.wrongfixes import ALL as WRONG_FIXES
from tests.advice.following import WRONG
from tests.advice.loading import records
from tests.advice.proofs import WRONG_RECORDS
from tests.advice.table import Followed, Kind, outcome_of, steps
from tests.advice.table import table as followed_steps
from tests.advice.unproved import UNPROVED
from tests.diagnosis.doctor.trials.loading import record_named

_MOST = 4
"""Situations listed per step."""
_KINDS = {
    Kind.SPARK: "run on Spark 4.2.0",
    Kind.FILES: "put back",
    Kind.RECORD: "recorded start",
    Kind.TEST: "test",
    Kind.READS: "changes nothing",
}


def advice_page() -> str:
    """Return the page: every step that acts, then what only reads, then the wrong fixes."""
    acting = [one for one in followed_steps() if one.kind is not Kind.READS]
    acted = {(one.code, one.step) for one in acting}
    reading = {(one.code, one.step) for one in followed_steps()} - acted
    everything = sum(len(steps(code)) for code in CODES)
    intro = (
        f"Holdfast prints {everything} next steps with its codes. {len(acted)} of them act on a "
        f"checkpoint, a sink or a job: each was executed word for word in the situations below, "
        f"and no run ended with lost or duplicated rows. {len(reading)} change no data: they "
        f"read, wait, or change the project file or the installation. {len(UNPROVED)} have "
        f"not been "
        "executed yet. What a step that begins with *do not* warns about was executed too; its "
        "outcome shows the harm. `…` stands for a value that is filled in when the step is "
        "printed."
    )
    how = (
        "*Run on Spark 4.2.0*: a program created the situation, executed the step, started the "
        "query again and counted the rows (`tests/advice/programs`). *Put back*: a real "
        "checkpoint was "
        "backed up, damaged and restored, and every byte is what Spark wrote. *Recorded start*: a "
        "record of `tests/restarts` or `tests/diagnosis/doctor/trials`. "
        "*Test*: a test does exactly this."
    )
    head = ("code", "step", "situation", "proof", "outcome")
    rows = [row for _, group in _by_step(acting) for row in _rows(list(group))]
    wrong = table(("fix", "situation", "outcome"), _wrong_fixes())
    parts = [intro, how, "## Steps that act", table(head, rows)]
    parts += ["## Fixes that do harm", "Findings list these as wrong fixes.", wrong]
    if UNPROVED:
        left = ((_linked(code), sentence(step)) for code, step in sorted(UNPROVED))
        parts += ["## Not executed yet", table(("code", "step"), left)]
    return page("Advice", *parts)


def _by_step(found: list[Followed]) -> Iterable[tuple[object, Iterator[Followed]]]:
    return groupby(found, key=lambda one: (one.code, one.step))


def _rows(found: list[Followed]) -> Iterator[tuple[str, ...]]:
    for number, one in enumerate(found[:_MOST]):
        first = number == 0
        more = len(found) - _MOST
        situation = one.situation
        if number == _MOST - 1 and more > 0:
            situation += f" (and {more} more)"
        yield (
            _linked(one.code) if first else "",
            sentence(one.step) if first else "",
            situation,
            _KINDS[one.kind],
            one.outcome,
        )


def _wrong_fixes() -> Iterator[tuple[str, ...]]:
    for text in WRONG_FIXES:
        for record in records():
            if [WRONG, text] in record["steps"]:
                yield sentence(text), str(record["situation"]), outcome_of(record)
        for name in WRONG_RECORDS.get(text, ()):
            yield sentence(text), name, record_named(name).outcome


def _linked(code: str) -> str:
    assert code_of(code)
    return f"[{code}](codes.md#{code.lower()})"
