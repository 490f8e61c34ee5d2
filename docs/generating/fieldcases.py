"""The page of field cases: what reports each of them, what will, or why nothing can."""

from __future__ import annotations

from docs.generating.markdown import page, sentence, table
from holdfast.diagnosis.doctor.fieldcases import FIELD_CASES, FieldCase
from tests.fieldcases.play.loading import remedies
from tests.fieldcases.play.unplayed import UNPLAYED

_HEAD = ("case", "symptom", "reported by", "needs", "executed", "remedy played")
_MOST_NAMED = 4


def field_cases_page() -> str:
    """Return the page: every case with its answer."""
    told = [case for case in FIELD_CASES if case.command is not None]
    executed = sum(bool(case.executed) for case in told)
    brought = sum(case.brought_by is not None for case in FIELD_CASES)
    untold = len(FIELD_CASES) - len(told) - brought
    intro = (
        f"{len(FIELD_CASES)} reported problems with checkpoints, state, restarts and sinks. "
        f"Holdfast reports {len(told)} of them before a start; {executed} of these were "
        f"reproduced on real Spark. {brought} need a look into the source that does not exist "
        f"yet, and {untold} cannot be reported, for the reason given. The remedies of "
        f"{len(remedies())} were played."
    )
    legend = (
        "*Needs* lists what is required besides the checkpoint, and which of these cases are not "
        "covered. *Executed* lists the recorded starts by release: those with two "
        "slashes are in `tests/restarts`, the others in `tests/diagnosis/doctor/trials` and, where "
        "`holdfast` was run on the same situation before the start, in `tests/fieldcases`. "
        "*Remedy played* lists the commands that `holdfast` named, in `tests/fieldcases/play`: a "
        "job ran on real Spark, the damage was done, these commands were typed, the job ran again, "
        "and every row was in the output, each once."
    )
    rows = (
        (
            str(case.number), sentence(case.symptom), _answer(case), _needs(case), _executed(case),
            _remedy(case),
        )
        for case in FIELD_CASES
    )  # fmt: skip
    return page("Field cases", intro, legend, table(_HEAD, rows))


def _answer(case: FieldCase) -> str:
    if case.command is not None:
        codes = ", ".join(map(_linked, case.codes))
        told = f"`{case.command}`: {codes}" if codes else f"`{case.command}`"
        return f"{told}; `run` refuses: {_linked(case.refused)}" if case.refused else told
    if case.brought_by is not None:
        return f"Not available yet: {case.brought_by}."
    return f"Cannot be reported: {case.untold_because}."


def _linked(code: str) -> str:
    return f"[{code}](codes.md#{code.lower()})"


def _needs(case: FieldCase) -> str:
    if case.command is None:
        return ""
    needs = sentence(case.needs or "the checkpoint alone")
    return f"{needs} {sentence(case.limits)}" if case.limits else needs


def _executed(case: FieldCase) -> str:
    if case.command is None:
        return ""
    if not case.executed:
        return sentence(f"not executed: {case.not_executed}")
    named = ", ".join(f"`{name}`" for name in case.executed[:_MOST_NAMED])
    more = len(case.executed) - _MOST_NAMED
    return f"{named} and {more} more" if more > 0 else named


def _remedy(case: FieldCase) -> str:
    played = remedies().get(case.number, ())
    if played:
        return ", ".join(f"`{one}`" for one in played)
    return sentence(UNPLAYED.get(case.number, ""))
