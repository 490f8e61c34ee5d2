"""Typed sinks are what the project file declares, and a mistake in one has the same code."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any, get_args

import pytest

import holdfast
from holdfast.errors import ProjectError
from holdfast.jobs.projectfile import sink as model
from holdfast.jobs.sinks import Sink, TypedSink

SOURCE = {"format": "rate"}
DSN = "postgresql://app:hunter2hunter2@db/shop"
KINDS: dict[type[TypedSink], dict[str, Any]] = {
    holdfast.DeltaSink: {"path": "lake/t"},
    holdfast.FileSink: {"format": "parquet", "path": "lake/t"},
    holdfast.PostgresSink: {"url": DSN, "table": "t"},
    holdfast.JdbcSink: {"url": "jdbc:h2:mem:", "table": "t"},
}
FORMATS = {
    holdfast.DeltaSink: "delta",
    holdfast.PostgresSink: "postgres",
    holdfast.JdbcSink: "jdbc",
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # Where a test runs is a temporary directory, which a path of a job must not be in.
    monkeypatch.setattr("holdfast.jobs.checkpointpath._temporary_folder", lambda *_: None)


def job(sink: Sink, **more: Any) -> holdfast.Job:
    """Declare a job with this sink."""
    return holdfast.Job("j", checkpoint="cp/j", source=SOURCE, sql="select 1", sink=sink, **more)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"mode": "complete"},
        {"mode": "upsert", "key": ("id", "day"), "order_by": "at"},
        {"partition_by": ["day"]},
        {"batch_column": "b"},
        {"options": {"o": "1"}},
    ],
)
def test_it_is_the_sink_that_a_mapping_declares(kind: type[Any], more: dict[str, Any]) -> None:
    """Every field that the kind has."""
    names = {one.name for one in dataclasses.fields(kind)}
    if not {*more} <= names or ("key" in more and "key" not in names):
        pytest.skip("not a key of this sink")
    given = {**KINDS[kind], **more}
    written = {"format": FORMATS.get(kind, "parquet"), **given}
    assert job(kind(**given)).ready().sink == _at(job(written), job(kind(**given)))


def _at(one: holdfast.Job, other: holdfast.Job) -> Any:
    return dataclasses.replace(one.ready().sink, at=other.ready().sink.at)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "wrong",
    [
        {"mode": "upsrt"},
        {"mode": "upsert"},
        {"key": ["id"]},
        {"path": None},
        {"path": ""},
        {"table": None},
        {"url": "mysql://db"},
        {"format": "xml"},
        {"options": {"checkpointLocation": "x"}},
        {"options": 7},
        {"order_by": 7.5},
    ],
)
def test_a_wrong_value_has_the_code_of_the_project_file(
    kind: type[Any], wrong: dict[str, Any], tmp_path: Path
) -> None:
    """At the line of the program."""
    if not {*wrong} <= {one.name for one in dataclasses.fields(kind) if one.init}:
        pytest.skip("not a key of this sink")
    sink: dict[str, Any] = {**KINDS[kind], **wrong}
    written = {"format": FORMATS.get(kind, "parquet"), **sink}
    mapping = {key: value for key, value in written.items() if value is not None}
    try:
        job(mapping)
    except ProjectError as error:
        expected: tuple[str, str] | None = (error.code.number, error.message)
    else:
        expected = None
    if expected is None:
        job(kind(**sink))
        return
    with pytest.raises(ProjectError) as raised:
        job(kind(**sink))
    assert (raised.value.code.number, raised.value.message) == expected
    assert Path(__file__).name in str(raised.value.at)


def test_one_column_needs_no_list() -> None:
    """A string is one column, not its letters."""
    sink = holdfast.DeltaSink(path="t", mode="upsert", key="id", partition_by="day")
    assert job(sink).ready().sink.key == ("id",)
    assert job(sink).ready().sink.partition_by == ("day",)


def test_a_function_is_a_custom_sink_of_a_job_too() -> None:
    """As in `holdfast.start`."""

    def deliver(batch: Any, batch_id: int) -> None:
        raise AssertionError

    ready = job(deliver).ready()
    assert (ready.sink.format, ready.sink.function) == ("custom", deliver)


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_frozen_takes_keywords_alone_and_hides_its_address(kind: type[Any]) -> None:
    """A URL and options may have a password in them."""
    sink = kind(**KINDS[kind], options={"password": "hunter3hunter3"})
    assert "hunter" not in repr(sink) and "\n" not in repr(sink)
    assert repr(sink).startswith(f"{kind.__name__}(")
    with pytest.raises(dataclasses.FrozenInstanceError):
        sink.mode = "append"
    with pytest.raises(TypeError):
        kind("lake/t")
    assert sink == dataclasses.replace(sink) and "/" not in str(kind.__doc__).splitlines()[0]


def test_every_key_of_the_model_that_a_format_takes_is_a_field() -> None:
    """A key that is added to the project file is added here."""
    keys = {*model.Sink.model_fields} - {"native", "function"}
    assert {one.name for kind in KINDS for one in dataclasses.fields(kind)} == keys
    formats = get_args(holdfast.FileSink.__dataclass_fields__["format"].type) or ()
    assert formats == () or {*formats} == model._FILES


@pytest.mark.parametrize(
    ("given", "time"),
    [
        ({}, None),
        ({"availableNow": True}, None),
        ({"once": True}, None),
        ({"processingTime": "10 seconds"}, "10 seconds"),
        ({"trigger": {"processing_time": "5 seconds"}}, "5 seconds"),
    ],
)
def test_triggers_are_spelled_as_in_pyspark(given: dict[str, Any], time: str | None) -> None:
    """Through the one model."""
    from holdfast.jobs.built import job_of_program
    from holdfast.library.program import _trigger

    names = ("trigger", "availableNow", "processingTime", "once")
    trigger = _trigger(*(given.get(name) for name in names))
    ready = job_of_program("j", checkpoint="cp/j", sink={"format": "console"}, trigger=trigger)
    assert ready.processing_time == time


@pytest.mark.parametrize(
    "given",
    [
        (None, True, "10 seconds", None),
        (None, True, None, True),
        (None, False, None, None),
        ({"available_now": True}, None, "1 second", None),
        (None, None, "soon", None),
    ],
)
def test_two_triggers_or_a_wrong_one_are_refused(given: tuple[Any, ...]) -> None:
    """With the code of the project file."""
    from holdfast.jobs.built import job_of_program
    from holdfast.library.program import _trigger

    with pytest.raises(ProjectError) as raised:
        job_of_program("j", checkpoint="cp/j", sink={"format": "console"}, trigger=_trigger(*given))
    assert raised.value.code.number == "HF1104"
