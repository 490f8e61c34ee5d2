"""Watching: everything at the first look, then only what came and went."""

from __future__ import annotations

from itertools import islice

from holdfast.answers import Answer
from holdfast.diagnosis.doctor.examination import Examination, watch
from tests.checkpoint.pictures import files_of, without
from tests.diagnosis.doctor.examining import examined, examinee


def test_changes_between_looks() -> None:
    """With a clock of the test's own: no waiting."""
    whole, broken = files_of("stateless"), without(files_of("stateless"), "offsets/2")
    looks = iter((whole, whole, broken, broken, whole))
    waits: list[int] = []

    def look() -> Answer[Examination]:
        return examined(examinee(next(looks)))

    seen = [
        [(one.appeared, one.finding.code) for one in changes]
        for _, changes in islice(watch(look, lambda: waits.append(1)), 5)
    ]
    assert seen == [[], [], [(True, "HF2204")], [], [(False, "HF2204")]]
    assert len(waits) == 4


def test_a_finding_whose_numbers_move_is_the_same() -> None:
    """A growing count is no news: target, code and place are."""
    one = files_of("aggregation-hdfs-lz4")
    delta = one["state/0/0/1.delta"]
    many = {**one, "state/0/0/7.delta": delta}
    looks = iter((one, many))
    watched = watch(lambda: examined(examinee(next(looks))), lambda: None)
    changes = [told for _, told in islice(watched, 2)]
    assert [change.finding.code for change in changes[0]] == ["HF2335"]
    assert not {"HF2335"} & {change.finding.code for change in changes[1]}
