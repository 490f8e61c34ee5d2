"""A seeded part of the damaged checkpoints, and the oracles on the healthy ones."""

from __future__ import annotations

import pytest

from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus
from tests.fuzz.__main__ import SEED, broken_promises
from tests.fuzz.bases import UNHEALTHY, base_of, bases
from tests.fuzz.cases import make_case
from tests.fuzz.expecting import Effect
from tests.fuzz.grammar import follows
from tests.fuzz.judging import judge, look
from tests.fuzz.kinds import FOREIGN, kinds_in
from tests.fuzz.operators import OPERATORS, name_of
from tests.fuzz.reporting import report
from tests.fuzz.rules import broken_rules
from tests.fuzz.running import Tally, run

COUNT, DRAWN = 1500, 600


@pytest.fixture(scope="module")
def tally(whole: bool) -> Tally:
    """The same cases at every run, the first of them where they are drawn."""
    return run(SEED, COUNT if whole else DRAWN)


def test_every_promise_holds(tally: Tally) -> None:
    """No failure, damage located at its file, no finding on a healthy checkpoint."""
    assert broken_promises(tally) == []


def test_every_operator_damages_something(tally: Tally) -> None:
    """None of them is idle, and most change what Spark reads."""
    assert {one.operator for one in tally.judgements} == set(map(name_of, OPERATORS))
    assert len(tally.read) > len(tally.judgements) / 2
    assert {one.effect for one in tally.judgements} == set(Effect)


def test_rules_of_every_sort_are_broken(tally: Tally) -> None:
    """A rule that no damage ever breaks would prove nothing."""
    assert len({rule for one in tally.judgements for rule in one.rules}) >= 20


def test_the_report_names_each_operator_and_how_to_repeat_a_case(tally: Tally) -> None:
    """It is drawn from the same judgements."""
    text = report(tally)
    assert all(f"| {one.operator} | {one.kind} |" in text for one in tally.read)
    assert f"--seed {SEED} --case" in text


@over_samples("one", [one for one in corpus() if one.name not in UNHEALTHY])
def test_the_oracles_accept_what_spark_wrote(one: Sample) -> None:
    """A grammar or a rule that real files break is a wrong one."""
    base = base_of(one)
    kinds = kinds_in(base.files)
    assert FOREIGN not in kinds.values()
    broken = [path for path, kind in kinds.items() if not follows(kind, path, base.files[path])]
    assert (broken, broken_rules(base.files, kinds)) == ([], [])


def test_a_case_is_the_same_whenever_it_is_made() -> None:
    """Whatever was made before it."""
    first = make_case(SEED, 40)
    make_case(SEED, 7)
    assert make_case(SEED, 40) == first
    assert make_case(SEED + 1, 40) != first


def test_the_judge_convicts(monkeypatch: pytest.MonkeyPatch) -> None:
    """With checks that find nothing, and with one that raises, the same cases are not accepted."""
    numbers = [number for number in range(100) if judge(SEED, number).detectable]
    monkeypatch.setattr("holdfast.diagnosis.checks.picture.check_picture", lambda picture: ())
    tables = "holdfast.diagnosis.checks.state.rocksdb.check_snapshot_tables"
    monkeypatch.setattr(tables, lambda subject: ())
    assert not any(judge(SEED, number).located for number in numbers)

    def fail(picture: object) -> None:
        raise KeyError("on purpose")

    monkeypatch.setattr("holdfast.diagnosis.checks.picture.check_picture", fail)
    assert judge(SEED, numbers[0]).failures
    assert "KeyError" in str(look(bases()[0].files, "memory").failure)
