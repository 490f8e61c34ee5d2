"""The doctor: every scenario of the field, none for the healthy, several targets at once."""

from __future__ import annotations

import re

import pytest

from holdfast.answers import finding_document
from holdfast.codes import CODES
from holdfast.codes.doctor import DOCTOR_CODES
from holdfast.diagnosis.checks.subject import ACROSS_CHECKS, SUBJECT_CHECKS
from holdfast.diagnosis.doctor.doctor import Choice, Examinee, Unopened, examine
from holdfast.diagnosis.doctor.wrongfixes import WRONG_FIXES
from holdfast.errors import CheckpointError, StorageError
from holdfast.findings import Severity, worst
from holdfast.ledgers.reading import SinkPlace
from holdfast.storage.memory import MemoryReader
from holdfast.storage.reading import Reader
from tests.checkpoint.pictures import files_of, without
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus
from tests.diagnosis.doctor.examining import examined, examinee, found, output_of, place_of
from tests.diagnosis.doctor.scenarios import Scenario, fresh_logs
from tests.diagnosis.doctor.statescenarios import EVERY_SCENARIO as SCENARIOS

BROKEN_BY_SPARK_ITSELF = {"repartition-refused"}
"""Spark's own offline repartition refuses this state only after it has written an entry."""


@pytest.mark.parametrize("scenario", SCENARIOS, ids=str)
def test_every_damage_is_told_where_it_lies(scenario: Scenario) -> None:
    """Code, severity and place; what real Spark does then is said in the scenario."""
    finding = found(*scenario.build(), verified=scenario.verified)[scenario.code]
    assert finding.severity is scenario.severity
    assert scenario.at in finding.place.within("")
    assert finding.why and finding.next_steps and scenario.spark


@over_samples("one", corpus())
def test_healthy_checkpoints_with_their_outputs_give_no_warning(one: Sample) -> None:
    """Information at most, whatever the kind."""
    output = dict(one.output_files()) or None
    answer = examined(examinee(dict(one.files()), output, path=place_of(one)), verified=True)
    severity = worst(answer.findings)
    expected = {Severity.FATAL} if one.name in BROKEN_BY_SPARK_ITSELF else {None, Severity.INFO}
    assert severity in expected, answer.findings


def test_every_code_of_the_doctor_has_a_scenario() -> None:
    """What has no scenario is tested by its own name below, HF2350 and HF2352 with the replay."""
    without = {one.number for one in DOCTOR_CODES} - {one.code for one in SCENARIOS}
    assert without == {"HF2248", "HF2350", "HF2352", "HF2431"}


def test_checks_are_named_by_what_they_do() -> None:
    """`check_…` or `advise_…`, each once."""
    names = [check.__name__ for check in (*SUBJECT_CHECKS, *ACROSS_CHECKS)]
    assert all(name.startswith(("check_", "advise_")) for name in names)
    assert len(set(names)) == len(names)


def test_a_sink_that_cannot_be_read_is_told() -> None:
    """Unknown is never safe (HF2431)."""

    def refuse(_folder: str) -> Reader:
        raise StorageError("HF7002", "access was denied")

    one = Examinee(
        "x", MemoryReader(files_of("stateless")), "/lake/x", sink=SinkPlace("/out", refuse)
    )
    finding = found(one)["HF2431"]
    assert finding.severity is Severity.WARNING
    assert "access was denied" in finding.message
    assert examined(one).result.targets[0].sink is not None


def test_wrong_fixes_are_named_with_the_reason() -> None:
    """Deleting one offsets file, deleting _spark_metadata, copying, the schema check."""
    spoken = {
        "HF2204": "deleting one offsets file",
        "HF2402": "deleting _spark_metadata",
        "HF2421": "copying the folder and running both",
        "HF2203": "hunting for a second job",
    }
    for code, fix in spoken.items():
        scenario = next(one for one in SCENARIOS if one.code == code)
        fixes = found(*scenario.build())[code].evidence[WRONG_FIXES]
        assert isinstance(fixes, list)
        assert any(one.startswith(fix) and ":" in one for one in fixes), code
    moved = found(examinee(files_of("transform-pandas"), path="/elsewhere"))["HF2225"]
    assert any("stateSchemaCheck" in one for one in moved.evidence[WRONG_FIXES])  # type: ignore[attr-defined]


def test_several_targets_have_each_their_own_findings() -> None:
    """What is wrong with one is not said of the other."""
    good = examinee(files_of("aggregation-hdfs-lz4"), path="/lake/good")
    bad = examinee(without(files_of("stateless"), "offsets/2"), path="/lake/bad")
    answer = examined(good, bad)
    assert [one.worst for one in answer.result.targets] == [Severity.INFO, Severity.FATAL]
    assert answer.status == "findings"
    first = finding_document(answer.findings[0], answer.location)
    assert (first["code"], first["at"]) == ("HF2204", "/lake/bad/offsets/2")
    assert answer.next_steps[0] == "holdfast explain HF2204"


def test_an_unreadable_target_is_told_while_others_go_on() -> None:
    """Also one that is no checkpoint at all."""
    unopened = Unopened(
        "s3a://lake/x", StorageError("HF7002", "access was denied", at="s3a://lake")
    )
    foreign = examinee({"readme.txt": b"hello"}, path="/lake/foreign")
    good = examinee(files_of("stateless"), path="/lake/good")
    answer = examined(unopened, foreign, good)
    assert [one.readable for one in answer.result.targets] == [False, False, True]
    told = [one.findings[0].code for one in answer.result.targets[:2]]
    assert told == ["HF7002", "HF2001"]
    assert answer.exit_status == 3


def test_a_single_unreadable_target_is_an_error() -> None:
    """As it is for inspect."""
    with pytest.raises(CheckpointError) as refusal:
        examined(examinee({"readme.txt": b"hello"}))
    assert refusal.value.code.number == "HF2001"


def test_codes_can_be_chosen() -> None:
    """Only these, or all but these."""
    bad = examinee(without(files_of("stateless"), "offsets/2", "metadata"))
    only = examine([bad], choice=Choice(only=frozenset({"HF2204"})))
    assert [one.code for one in only.findings] == ["HF2204"]
    rest = examine([bad], choice=Choice(ignore=frozenset({"HF2204"})))
    assert "HF2204" not in {one.code for one in rest.findings}
    assert "HF2201" in {one.code for one in rest.findings}


def test_a_pending_batch_that_the_sink_holds_is_no_finding() -> None:
    """Spark commits to the sink first: a crash in between leaves exactly this, and is safe."""
    pending = without(files_of("stateless"), "commits/3")
    codes = found(examinee(pending, output_of("stateless")))
    assert {one.severity for one in codes.values()} <= {Severity.INFO}
    seen = examined(examinee(pending, output_of("stateless"))).result.targets[0].sink
    assert seen is not None
    assert (seen.kind, seen.last_committed) == ("files", 3)


def test_the_twin_of_a_path_is_reported_before_what_follows_from_it() -> None:
    """A new output for a checkpoint that only lies elsewhere would be the wrong remedy."""
    twin = ("/lake/my orders", "/lake/my%252520orders")
    new = examinee(fresh_logs({}), output_of("stateless"), path="/lake/my orders", beside=twin)
    codes = [one.code for one in examined(new).findings]
    assert codes[0] == "HF2305"
    assert "HF2401" not in codes
    alone = examinee(fresh_logs({}), output_of("stateless"), path="/lake/my orders")
    assert "HF2401" in found(alone)


def test_a_connectors_log_is_not_called_foreign() -> None:
    """It is told as what it is; other names are not."""
    files = {**files_of("stateless"), "sinks/elasticsearch/0": b"v1"}
    assert "HF2229" not in found(examinee(files))
    assert found(examinee({**files, "notes/a": b""}))["HF2229"].evidence["names"] == ["notes"]


def test_no_advice_makes_spark_plan_a_known_batch_anew() -> None:
    """Neither that of a code, nor that of a finding in any scenario."""
    steps = [step for code in CODES for step in code.next_steps]
    for scenario in SCENARIOS:
        answer = examined(*scenario.build(), verified=scenario.verified)
        steps += [step for finding in answer.findings for step in finding.next_steps]
    for step in set(steps):
        for sentence in re.split(r"[.;:]", step.lower()):
            if re.search(r"\b(delete|remove|clear|start with a new)\b", sentence):
                harmful = re.search(r"offset|commit|checkpoint|entr|metadata", sentence)
                assert "do not" in sentence or not harmful, step
