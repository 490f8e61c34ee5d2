"""A function that only has a new name changes nothing; the plan shows its name alone."""

from __future__ import annotations

from dataclasses import replace

from holdfast.records.facts import FunctionFacts, QueryFacts
from holdfast.restart.judging import judge
from holdfast.restart.samefunctions import do_the_same
from holdfast.restart.verdict import Verdict
from tests.restart.queries import STATEFUL, SUMS, start_of


def function(name: str, reach: str = "1", **others: object) -> FunctionFacts:
    """Return a Python function of the plan, and all that it reaches."""
    parts = {f"job:{name}": "ast:1", "what its names stand for": f"reach:{reach}"}
    return replace(FunctionFacts(f"job:{name}", "udf", parts), **others)  # type: ignore[arg-type]


def keyed(*functions: FunctionFacts, by: str) -> QueryFacts:
    """Return a query whose state is keyed by a call."""
    return replace(STATEFUL, functions=functions, operators=(replace(SUMS, keys=(by,)),))


def verdict(before: QueryFacts, now: QueryFacts) -> Verdict:
    """Judge the start of a query after another one."""
    return judge(start_of(before, now)).verdict


BEFORE = keyed(function("group_of"), by="group_of(source0.user)")


def test_another_name_is_no_change() -> None:
    """Wherever the plan has it, and whatever else is in the name."""
    assert verdict(BEFORE, keyed(function("spelled"), by="spelled(source0.user)")) is Verdict.SAFE
    steps = replace(BEFORE, steps=("column n: group_of(source0.user)",))
    now = replace(
        keyed(function("spelled"), by="spelled(source0.user)"),
        steps=("column n: spelled(source0.user)",),
    )
    assert judge(start_of(steps, now)).changes == ()


def test_another_name_of_something_else_is_a_change() -> None:
    """Another body, another thing behind a name, something that cannot be followed."""
    for other in (
        function("spelled", "2"),
        function("spelled", unfollowed=("job:spelled opens files",)),
        replace(function("spelled"), kind="pandas"),
        replace(function("spelled"), parts={"job:spelled": "ast:1"}),
    ):
        assert verdict(BEFORE, keyed(other, by="spelled(source0.user)")) is Verdict.UNSAFE, other


def test_a_name_that_is_still_called_is_left_alone() -> None:
    """It may be Spark's own function of that name."""
    before = keyed(function("upper"), by="upper(source0.user)")
    now = keyed(function("spelled"), by="concat(spelled(source0.user), upper(source0.city))")
    assert verdict(before, now) is Verdict.UNSAFE


def test_two_functions_that_do_the_same_take_nobodys_place() -> None:
    """Which of them has a new name is not known."""
    both = replace(BEFORE, functions=(function("group_of"), function("city_of")))
    assert verdict(both, keyed(function("spelled"), by="spelled(source0.user)")) is Verdict.UNSAFE


def test_what_a_record_does_not_know_is_not_compared() -> None:
    """Records of earlier releases have single parts alone."""
    old = replace(function("f"), parts={"job:f": "ast:1"})
    assert do_the_same(old, function("f", "2"))
    assert not do_the_same(function("f"), function("f", "2"))
    assert not do_the_same(old, replace(old, parts={"job:f": "ast:2"}))


def test_what_only_a_newer_release_notes_is_no_change() -> None:
    """A record of an earlier form is compared by that, until code of the query is another one."""
    reads = ("job:group_of opens files",)
    before = replace(
        keyed(function("group_of", "1"), by="group_of(source0.user)"), code={"job.py": "1"}
    )
    newer = function("group_of", "1+2", unfollowed=reads)
    now = replace(before, functions=(newer,))
    assert verdict(before, now) is Verdict.SAFE
    assert verdict(before, replace(now, code={"job.py": "2"})) is Verdict.UNKNOWN
    other = replace(
        now, functions=(replace(newer, parts={**newer.parts, "job:group_of": "ast:2"}),)
    )
    assert verdict(before, other) is not Verdict.SAFE
    assert verdict(now, replace(now, functions=(function("group_of", "1+2"),))) is Verdict.UNKNOWN
    assert verdict(now, replace(now, functions=(function("group_of", "1+3"),))) is not Verdict.SAFE


def test_a_transform_of_an_earlier_form_is_the_same_code() -> None:
    """What could not be determined is not asked about again."""
    transform = replace(function("build", "1"), kind="transform")
    before = replace(BEFORE, functions=(transform,), unknown=("the steps",))
    for reach, expected in (("1+2", Verdict.SAFE), ("2+2", Verdict.UNKNOWN)):
        now = replace(before, functions=(replace(function("build", reach), kind="transform"),))
        assert verdict(before, now) is expected
