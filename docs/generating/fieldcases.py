"""The page of field cases: which check tells each of them, what will, or why nothing can."""

from __future__ import annotations

from docs.generating.markdown import page, sentence, table
from holdfast.diagnosis.fieldcases import FIELD_CASES, FieldCase


def field_cases_page() -> str:
    """Give the page: every case with its answer."""
    told = sum(bool(case.codes) for case in FIELD_CASES)
    brought = sum(case.brought_by is not None for case in FIELD_CASES)
    untold = len(FIELD_CASES) - told - brought
    intro = (
        f"{len(FIELD_CASES)} cases that people met around checkpoints, state, restarts and sinks. "
        f"`holdfast doctor` tells {told} of them before a start, from the checkpoint, the log of "
        f"its sink and the project file alone; {brought} need something that is still to come, "
        f"and {untold} can't be told from these, for the reason given."
    )
    rows = ((str(case.number), sentence(case.symptom), _answer(case)) for case in FIELD_CASES)
    return page("Field cases", intro, table(("case", "symptom", "told by"), rows))


def _answer(case: FieldCase) -> str:
    if case.codes:
        return ", ".join(f"[{code}](codes.md#{code.lower()})" for code in case.codes)
    if case.brought_by is not None:
        return f"To come: {case.brought_by}."
    return f"Can't be told: {case.untold_because}."
