"""What a check asks of a job, with everything that it asks replaced."""

from __future__ import annotations

import io
import logging
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.java_gateway import GatewayClient, GatewayParameters

from holdfast.diagnosis.inspection.runs.lastquery import ComparedRun
from holdfast.errors import SinkError
from holdfast.findings import Finding, Place, Severity
from holdfast.records.run import PlanFacts
from holdfast.restart.result import CheckedJob
from holdfast.restart.verdict import Verdict
from holdfast.spark import planning
from tests.restart.queries import STATEFUL, start_of

START = start_of(STATEFUL, STATEFUL)
REFUSED = Finding("HF2604", Severity.ERROR, "the entry of batch 5 differs", Place(""))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Replace what is asked of storage, of Spark and of the sink."""
    sink: dict[str, Exception] = {}

    def open_sink(*_: object) -> None:
        if "error" in sink:
            raise sink["error"]

    context = SimpleNamespace(
        options=SimpleNamespace(settings={}), versions=SimpleNamespace(spark="4.2.1")
    )
    for name, answer in {
        "records_of": lambda *_: None,
        "last_run": lambda *_: None,
        "_inspected": lambda *_: (None, None, START.inspection),
        "_planned": lambda *_: (None, START.plan),
        "checked_sink": open_sink,
        "start_facts": lambda **_: START,
        "_refused_later": lambda *_: iter([REFUSED]),
        "fatal_before_start": lambda *_: (),
        "missing_files_setting": lambda *_: {},
        "lost_before_start": lambda *_: None,
        "owned_by_other": lambda *_: (),
    }.items():
        monkeypatch.setattr(planning, name, answer)
    return {"context": context, "sink": sink}


def checked(asked: dict[str, Any], release: str | None) -> CheckedJob:
    """Check a job for a release of Spark."""
    sink = SimpleNamespace(format="delta")
    job: Any = SimpleNamespace(name="orders", checkpoint=None, settings=None, conf={}, sink=sink)
    return planning._check_job(job, asked["context"], release, ())


@pytest.mark.parametrize("release", [None, "4.2"])
def test_what_a_start_refuses_after_the_rules_counts_for_every_release(
    asked: dict[str, Any], release: str | None
) -> None:
    """Offsets that differ from their copies are so with any Spark."""
    assert "HF2604" in {one.rule for one in checked(asked, release).changes}


def test_a_sink_that_cannot_be_asked_leaves_the_verdict_open(asked: dict[str, Any]) -> None:
    """The query is compared all the same, and the start is not called safe."""
    asked["sink"]["error"] = SinkError("HF5020", "no such table")
    found = checked(asked, None)
    assert [one.rule for one in found.changes if "the sink was not compared" in one.subject]
    [open_one] = [one for one in found.changes if one.rule == "HF5020"]
    assert open_one.verdict is Verdict.UNKNOWN
    assert open_one.condition in found.conditions
    assert found.location == START.inspection.location


@pytest.mark.parametrize(
    ("unknown", "verdict"), [((), Verdict.SAFE), (("its jar",), Verdict.UNKNOWN)]
)
def test_a_notebook_has_no_file_that_shows_that_nothing_changed(
    monkeypatch: pytest.MonkeyPatch, unknown: tuple[str, ...], verdict: Verdict
) -> None:
    """What cannot be compared is unknown there, also where the last run is from a notebook."""
    query = replace(STATEFUL, unknown=unknown)
    last = ComparedRun("holdfast.last-run/1", "", 0, query, recorded_at="2026-01-01T00:00:00Z")

    def planned(_: object, code: dict[str, str], __: str) -> PlanFacts:
        return replace(START.plan, query=replace(query, code=code))

    for name, answer in {
        "require_streaming": lambda *_: None,
        "open_reader": lambda *_: None,
        "picture_of": lambda *_, **__: None,
        "records_of": lambda *_: None,
        "_inspection": lambda *_: START.inspection,
        "fatal_before_program": lambda *_, **__: (),
        "missing_files_setting": lambda *_: {},
        "lost_before_program": lambda *_: None,
        "last_run": lambda *_: last,
        "program_code": dict,
        "plan_facts": planned,
    }.items():
        monkeypatch.setattr(planning, name, answer)
    frame: Any = SimpleNamespace(sparkSession=SimpleNamespace(version="4.2.1"))
    nowhere: Any = None
    found = planning.check_frame(
        frame, nowhere, nowhere, output_mode="update", release=None, accepted=()
    )
    assert found.verdict is verdict


@pytest.mark.parametrize("found", [True, False], ids=["found", "own"])
def test_after_an_interrupt_the_jvm_is_asked_nothing(
    monkeypatch: pytest.MonkeyPatch, found: bool
) -> None:
    """The answer to the call that was interrupted would be taken for that of the next one."""
    done: list[str] = []
    for name, answer in {
        "has_session": lambda: found,
        "open_session": lambda *_: "session",
        "versions_of": lambda _: None,
        "Jvm": SimpleNamespace(of=lambda _: None),
        "stop_session": lambda _: done.append("stopped"),
        "end_session": lambda _: done.append("ended"),
    }.items():
        monkeypatch.setattr(planning, name, answer)
    options: Any = SimpleNamespace(conf={})
    with pytest.raises(KeyboardInterrupt), planning.planning(options):
        raise KeyboardInterrupt
    with pytest.raises(ValueError), planning.planning(options):
        raise ValueError
    with planning.planning(options):
        pass
    assert done == ([] if found else ["ended", "stopped", "stopped"])


@pytest.mark.parametrize("opened", [False, True])
def test_an_interrupted_call_is_no_traceback(monkeypatch: pytest.MonkeyPatch, opened: bool) -> None:
    """py4j prints one with the root logger for a call that Ctrl-C breaks off, also the first."""

    class Interrupted:
        socket = None

        def send_command(self, _command: str) -> str:
            raise KeyboardInterrupt

    def call(*_given: object) -> None:
        client = GatewayClient(gateway_parameters=GatewayParameters(port=1))
        client.deque.append(Interrupted())
        client.send_command("x\n")

    for name, answer in {
        "has_session": lambda: False,
        "open_session": (lambda *_: "session") if opened else call,
        "versions_of": lambda _: None,
        "Jvm": SimpleNamespace(of=lambda _: None),
        "end_session": lambda _: None,
    }.items():
        monkeypatch.setattr(planning, name, answer)
    shown = io.StringIO()
    handler, root = logging.StreamHandler(shown), logging.getLogger()
    root.addHandler(handler)
    options: Any = SimpleNamespace(conf={})
    try:
        with pytest.raises(KeyboardInterrupt), planning.planning(options):
            call()
    finally:
        root.removeHandler(handler)
    assert shown.getvalue() == ""
    assert not root.filters
