"""Every severity is measured: fatal where a real start failed, lost or doubled rows, only there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import pytest

from holdfast.diagnosis.doctor.doctor import examine
from holdfast.errors import CheckpointError
from holdfast.findings import Finding, Severity
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus
from tests.diagnosis.doctor.examining import examined, examinee, place_of
from tests.diagnosis.doctor.severityreasons import (
    FATAL_ALTHOUGH_IT_WENT_ON,
    NO_CHECKPOINT,
    NOT_FATAL,
    Reason,
)
from tests.diagnosis.doctor.trials.loading import WELL, record_named
from tests.restarts.loading import (
    Truth,
    damaged_files,
    damaged_output,
    drawn_truths,
    truths,
)

BY_BASE: dict[tuple[str, str], list[Truth]] = defaultdict(list)
for _truth in truths():
    BY_BASE[_truth.spark, _truth.base].append(_truth)
EVERY_REASON = (*NOT_FATAL, *FATAL_ALTHOUGH_IT_WENT_ON)
FAILS_INDEED = {"repartition-refused"}
"""A shape whose next start fails on real Spark."""


def findings_of(truth: Truth) -> tuple[Finding, ...]:
    """Examine what Spark found, as the release of the record would start on it."""
    one = examinee(damaged_files(truth), damaged_output(truth) or None)
    return examine([one], spark=truth.spark.rpartition(".")[0]).findings


@dataclass(frozen=True)
class Judged:
    """One record held against what the doctor says."""

    agreed: bool
    reasons: tuple[Reason, ...] = ()
    """Why they differ, where it is written."""
    told: str = ""


@cache
def judged(truth: Truth) -> Judged:
    """Compare severity and outcome of one record."""
    outcome = record_named(f"{truth.spark}/{truth.base}/{truth.damage}").outcome
    findings = findings_of(truth)
    fatal = any(one.severity is Severity.FATAL for one in findings)
    if fatal == (outcome != WELL):
        return Judged(agreed=True)
    reasons = FATAL_ALTHOUGH_IT_WENT_ON if fatal else NOT_FATAL
    codes = [f"{one.code} {one.severity.value}" for one in findings]
    told = f"{truth.spark}/{truth.base}/{truth.damage}: {outcome} ({truth.error}), told {codes}"
    return Judged(False, tuple(one for one in reasons if one.covers(truth)), told)


def comparable(records: Iterable[Truth]) -> list[Truth]:
    """Leave out what is no checkpoint any more."""
    return [one for one in records if one.damage not in NO_CHECKPOINT]


@pytest.mark.parametrize("spark,base", sorted(BY_BASE))
def test_fatal_is_what_fails_or_spoils_rows(spark: str, base: str, whole: bool) -> None:
    """On each recorded restart of each release, both ways; else a reason is written."""
    chosen = [one for one in BY_BASE[spark, base] if whole or one in drawn_truths()]
    found = [judged(one) for one in comparable(chosen)]
    wrong = [one.told for one in found if not one.agreed and not one.reasons]
    assert not wrong, "\n".join(wrong)


def test_what_is_no_checkpoint_is_refused() -> None:
    """An empty folder gets an error, not findings."""
    for truth in (one for one in truths() if one.damage in NO_CHECKPOINT):
        with pytest.raises(CheckpointError):
            findings_of(truth)


def test_every_reason_is_still_needed(capsys: pytest.CaptureFixture[str]) -> None:
    """One that no record needs is stale."""
    found = comparable(truths())
    covered = [one for one in found if any(reason.covers(one) for reason in EVERY_REASON)]
    explained = [one for one in map(judged, covered) if one.reasons]
    with capsys.disabled():
        print(f"\n{len(found):,} recorded restarts: the severity of {len(explained)} differs from "
              "the outcome, with a reason")  # fmt: skip
    needed = {reason.why for one in explained for reason in one.reasons}
    assert needed == {reason.why for reason in EVERY_REASON}
    assert len(found) > 3_500
    assert len(explained) < len(found) / 10


HEALTHY = [one for one in corpus() if one.name not in FAILS_INDEED]


@over_samples("one", HEALTHY)
def test_healthy_checkpoints_are_quiet(one: Sample) -> None:
    """Nothing above information, with their outputs, of every shape and release."""
    output = dict(one.output_files())
    answer = examined(examinee(dict(one.files()), output or None, path=place_of(one)))
    assert [f.code for f in answer.findings if f.severity is not Severity.INFO] == []


@pytest.mark.parametrize("spark,base", sorted(BY_BASE))
def test_bases_without_damage_are_quiet(spark: str, base: str) -> None:
    """What the damages are made from."""
    (truth,) = [one for one in BY_BASE[spark, base] if one.damage == "none"]
    assert [one.code for one in findings_of(truth) if one.severity is not Severity.INFO] == []


def test_the_healthy_are_of_many_shapes() -> None:
    """At least thirty, of five releases."""
    assert len({one.name for one in HEALTHY}) >= 30
    assert len({one.spark.rpartition(".")[0] for one in HEALTHY}) == 5
