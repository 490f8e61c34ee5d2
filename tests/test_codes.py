"""The registry: every code is used, tested, and never advises to plan a known batch anew."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from holdfast.codes import CODES, code_of

ROOT = Path(__file__).resolve().parent.parent
FAMILIES = {
    "HF1": "project file and usage",
    "HF2": "checkpoint",
    "HF3": "restart rules",
    "HF4": "plans and journal",
    "HF5": "sinks, sources, Spark",
    "HF7": "storage",
}


@cache
def numbers_in(folder: str, *, beside: str = "") -> frozenset[str]:
    """Name every code mentioned in Python files below a folder."""
    found: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        if not beside or beside not in str(path):
            found |= set(re.findall(r"HF\d{4}", path.read_text(encoding="utf-8")))
    return frozenset(found)


def test_numbers_are_unique_and_of_a_known_family() -> None:
    """A number never means two things."""
    numbers = [code.number for code in CODES]
    assert len(set(numbers)) == len(numbers)
    assert all(number[:3] in FAMILIES for number in numbers)


def test_every_code_is_raised_and_tested() -> None:
    """Somewhere in the source besides the registry, and somewhere in the tests."""
    numbers = {code.number for code in CODES}
    assert numbers - numbers_in("src", beside="/codes/") == set()
    assert numbers - numbers_in("tests") == set()


def test_every_code_mentioned_is_registered() -> None:
    """No raiser invents one."""
    assert numbers_in("src") <= {code.number for code in CODES}


def test_no_advice_makes_spark_plan_a_known_batch_anew() -> None:
    """Deleting an entry or the checkpoint is never a next step."""
    harmful = [
        f"{code.number}: {sentence}"
        for code in CODES
        for sentence in re.split(r"[.;:]", " ".join(code.next_steps).lower())
        if re.search(r"\b(delete|remove|clear)\b", sentence) and "do not" not in sentence
        if re.search(r"offset|commit|checkpoint|entr", sentence)
    ]
    assert harmful == []


def test_a_code_is_its_number() -> None:
    """Whoever handles an error compares, looks up and prints the number."""
    code = code_of("HF3025")
    assert code == "HF3025" and code == "HF3025" and code == code_of("HF3025")
    assert code not in ("HF3026", code_of("HF3026"), 3025, None)
    assert hash(code) == hash("HF3025") and {"HF3025": "known"}[code] == "known"  # type: ignore[index]
    assert str(code) == f"{code}" == "HF3025" and f"{code:>8}" == "  HF3025"


def test_a_step_that_has_files_compared_says_with_which_option() -> None:
    """Without --verify the doctor does not open the files of an output."""
    compared = [step for code in CODES for step in code.next_steps if "compare every file" in step]
    assert compared and all("--verify" in step for step in compared)
