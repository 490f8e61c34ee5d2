"""Jobs declared in Python: the same rules as in the file, told at the user's line."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import HoldfastError, ProjectError, UsageError
from holdfast.jobs.built import Job, job_of_program
from holdfast.jobs.ownership import check_paths
from holdfast.jobs.ready import FunctionReference
from tests.jobs.declaring import job_text, ready_jobs

HERE = Path(__file__).resolve()
RATE: Mapping[str, object] = {"format": "rate"}
CONSOLE: Mapping[str, object] = {"format": "console"}
PLACE = "/data/checkpoints/orders"


def clean(source: Any) -> Any:
    return source


def deliver(batch: Any, identity: Any) -> None:
    return None


def line_here() -> int:
    """Give the line of the caller."""
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_it_is_ready_as_the_same_job_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (file_job,) = ready_jobs(
        tmp_path,
        job_text(
            "orders",
            "{format: json, path: ./in, schema: id long, options: {maxFilesPerTrigger: 2}}",
            "{format: delta, path: ./out, mode: upsert, key: [id], order_by: at}",
            more="trigger: {processing_time: 1 second}\n    restart: {limit: 2, backoff: 1 minute}"
            "\n    on_failure: {command: notify me}",
        ),
    )
    source = {
        "format": "json",
        "path": Path("./in"),
        "schema": "id long",
        "options": {"maxFilesPerTrigger": 2},
    }
    job = Job(
        "orders",
        checkpoint="/data/checkpoints/orders",
        source=source,
        sql="select 1",
        sink={"format": "delta", "path": "out", "mode": "upsert", "key": ["id"], "order_by": "at"},
        trigger={"processingTime": "1 second"},
        restart={"limit": 2, "backoff": "1 minute"},
        on_failure={"command": "notify me"},
    ).ready()
    assert job.on_failure is not None and job.on_failure.command == ("notify", "me")
    for name in ("name", "sql", "output_mode", "processing_time", "conf", "transform", "restart"):
        assert getattr(job, name) == getattr(file_job, name), name
    for name in ("name", "format", "path", "schema", "options"):
        assert getattr(job.sources[0], name) == getattr(file_job.sources[0], name), name
    for name in ("format", "mode", "path", "key", "order_by", "function", "options"):
        assert getattr(job.sink, name) == getattr(file_job.sink, name), name
    assert (job.project, job.adopted, job.checkpoint.url) == (None, True, PLACE)


def test_functions_are_given_as_such() -> None:
    sink = {"format": "custom", "function": deliver}
    job = Job("orders", checkpoint=PLACE, source=RATE, transform=clean, sink=sink).ready()
    assert (job.transform, job.sink.function) == (clean, deliver)


def test_a_function_by_name_is_looked_for_beside_the_program() -> None:
    job = Job("orders", checkpoint=PLACE, source=RATE, transform="a.b:c", sink=CONSOLE).ready()
    assert isinstance(job.transform, FunctionReference)
    assert (job.transform.module, job.transform.folder) == ("a.b", HERE.parent)
    assert job.folder == HERE.parent


def test_it_knows_the_users_line() -> None:
    line, job = line_here(), Job("a", checkpoint=PLACE, source=RATE, sql="select 1", sink=CONSOLE)
    ready = job.ready()
    assert ready.at.endswith(f"tests/jobs/test_built.py:{line}")
    assert ready.sink.at == ready.sources[0].at == ready.at
    assert repr(job) == f"<Job a at {ready.at}>"


BAD: dict[str, tuple[dict[str, Any], str, str]] = {
    "no source": ({"source": None}, "HF1105", "jobs.orders: source is required"),
    "no transform": ({"sql": None}, "HF1105", "transform (module:function)"),
    "both": ({"transform": clean}, "HF1104", "transform and sql exclude each other"),
    "two sources": ({"sources": {"a": RATE}}, "HF1104", "source and sources"),
    "unknown key": ({"sink": {"format": "console", "tabel": "x"}}, "HF1103", "did you mean table"),
    "unknown format": ({"sink": {"format": "oracle"}}, "HF1104", "jobs.orders.sink.format"),
    "does not take path": ({"sink": {"format": "delta"}}, "HF1105", "a delta sink requires path"),
    "not a mapping": ({"sink": "console"}, "HF1104", "jobs.orders.sink must be a mapping"),
    "an object": ({"source": object()}, "HF1104", "jobs.orders.source must be a mapping"),
    "a text for a list": (
        {"sink": {"format": "delta", "path": "x", "mode": "upsert", "key": "id"}},
        "HF1104",
        "jobs.orders.sink.key must be a list",
    ),
    "output mode": ({"output_mode": "upsert"}, "HF1104", "one of append, update, complete"),
    "trigger": ({"trigger": {"continuous": "1 second"}}, "HF1103", "unknown key continuous"),
    "interval": ({"trigger": {"processing_time": 10}}, "HF1104", "interval"),
    "setting": ({"conf": {"spark.master": "local"}}, "HF1110", "spark.master"),
    "name": ({"name": "My Job"}, "HF1104", "'My Job'"),
    "reference": ({"checkpoint": "/c/${env:RUN}"}, "HF1108", "could change"),
    "date": ({"checkpoint": "/c/2026-11-16"}, "HF1115", "a date"),
    "temporary": ({"checkpoint": "/tmp/c"}, "HF1115", "a temporary directory"),
}


def declare(**changes: Any) -> Job:
    given = {
        "name": "orders",
        "checkpoint": PLACE,
        "source": RATE,
        "sql": "select 1",
        "sink": CONSOLE,
        **changes,
    }
    return Job(given.pop("name"), **given)


@pytest.mark.parametrize("name", BAD)
def test_a_mistake_is_told_at_the_users_line(name: str) -> None:
    changes, code, message = BAD[name]
    with pytest.raises(ProjectError) as raised:
        declare(**changes)
    error = raised.value
    assert error.code.number == code, error.message
    assert message in error.message
    assert "test_built.py:" in (error.at or "")
    assert "file" not in error.why


def test_two_mistakes_are_counted() -> None:
    with pytest.raises(ProjectError) as raised:
        declare(sink={"format": "oracle"}, output_mode="x")
    assert raised.value.why.endswith("(1 more problem in this job)")


def test_a_changing_path_is_accepted_by_name() -> None:
    job = declare(checkpoint="/tmp/2026-11-16", accept=("temporary-path", "dated-path"))
    assert job.ready().checkpoint.url == "/tmp/2026-11-16"
    with pytest.raises(UsageError, match="temporary-path"):
        declare(accept=("temporary",))


def test_on_a_terminal_it_is_a_warning_at_the_users_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    with pytest.warns(UserWarning, match="checkpoint: the path looks") as warned:
        job = declare(checkpoint="/c/2026-11-16")
    assert job.ready().checkpoint.url == "/c/2026-11-16"
    assert warned[0].filename == str(HERE)


def test_relative_paths_count_from_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Spark takes them, so that an adopted checkpoint stays the same."""
    monkeypatch.chdir(tmp_path)
    job = declare(checkpoint="c/orders", accept=("temporary-path",)).ready()
    assert job.checkpoint.url == f"{tmp_path}/c/orders"


def test_storage_settings_are_given_as_in_the_file() -> None:
    storage = {"s3": {"region": "eu-west-1", "path_style": True}}
    job = declare(checkpoint="s3a://lake/c/orders", storage=storage).ready()
    assert job.settings.for_scheme("s3") == {"region": "eu-west-1", "path_style": True}
    with pytest.raises(HoldfastError, match="did you mean endpoint"):
        declare(storage={"s3": {"endpont": "x"}})


def test_several_sources() -> None:
    job = declare(source=None, sources={"b": RATE, "a": {"format": "delta", "path": "/x"}}).ready()
    assert [source.name for source in job.sources] == ["b", "a"]


def test_rules_on_places_hold_for_them() -> None:
    job = declare(
        source={"format": "delta", "path": "/x"}, sink={"format": "delta", "path": "file:/x/"}
    )
    with pytest.raises(ProjectError, match="reads what it writes") as raised:
        check_paths([job.ready()])
    assert (raised.value.code.number, raised.value.at) == ("HF1112", job.ready().at)


def test_a_program_with_its_own_rows_needs_no_source() -> None:
    line = line_here() + 1
    job = job_of_program("orders", checkpoint=PLACE, sink={"format": "delta", "path": "/x"})
    assert (job.sources, job.sql, job.transform) == ((), None, None)
    assert (job.output_mode, job.checkpoint.url) == ("append", PLACE)
    assert job.at.endswith(f"test_built.py:{line}")
    with pytest.raises(ProjectError, match="requires path"):
        job_of_program("orders", checkpoint=PLACE, sink={"format": "delta"})


@pytest.mark.parametrize("nothing", [None, 5])
def test_a_checkpoint_that_is_no_path_is_refused(nothing: object) -> None:
    """An unset variable must not become a directory named None."""
    with pytest.raises(ProjectError, match=f"checkpoint is {nothing}: a path is required") as one:
        Job("orders", checkpoint=nothing, source={"format": "rate"}, sink={"format": "memory"})  # type: ignore[arg-type]
    assert one.value.code.number == "HF1104"
