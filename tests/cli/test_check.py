"""The page of `check`: the verdict first, then what changed, then what to do."""

from __future__ import annotations

import io
import json
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console

from holdfast.answers import Answer
from holdfast.cli import pages
from holdfast.cli.main import holdfast
from holdfast.errors import SparkStartError
from holdfast.library.checking import _answer
from tests.checkpoint.pictures import files_of
from tests.cli.running import holdfast as command
from tests.remedy.resetting import JOB, made
from tests.restart.queries import STATEFUL, start_of
from tests.restart.test_result import PEAKS, QUESTION, checked


def drawn(page: Callable[[Answer[Any], Console], None], *jobs: Any) -> str:
    """Return a page as text."""
    console = Console(file=io.StringIO(), width=100, highlight=False, markup=False)
    page(_answer(jobs).named("orders", "orders"), console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert isinstance(text, str)
    return text


def test_the_verdict_comes_first() -> None:
    """With the change, why it matters, and the command that accepts it."""
    text = drawn(pages.check, checked(PEAKS))
    lines = text.splitlines()
    assert lines[0].startswith("orders: unsafe")
    assert "compared with run 3" in lines[1]
    assert "sum(amount), count(1) → max(amount)" in " ".join(text.split())
    assert "holdfast run orders --accept HF3116:" in text


def test_a_safe_job_takes_two_lines() -> None:
    """Nothing needs to be done."""
    text = drawn(pages.check, checked(start_of(STATEFUL, STATEFUL)))
    assert text.splitlines()[0] == "orders: safe (the code may restart on this checkpoint)"
    assert len(text.splitlines()) == 2


def test_a_pull_request_gets_a_table() -> None:
    """One row per change, then the conditions and what to do."""
    text = drawn(pages.check_markdown, checked(QUESTION), checked(PEAKS))
    assert "### `orders`: conditional" in text and "### `orders`: unsafe" in text
    assert "| conditional | HF3134 | the output mode | update | complete |" in text
    assert "Right only if:" in text and "- put the code back as it was" in text


def test_the_exit_status_is_the_verdict() -> None:
    """0, 30, 31 and 32, and the document is the contract's."""
    same = _answer([checked(start_of(STATEFUL, STATEFUL))])
    unknown = _answer([checked(start_of(None, STATEFUL))])
    statuses = [one.exit_status for one in (same, _answer([checked(PEAKS)]), unknown)]
    assert statuses[:2] == [0, 30] and _answer([checked(QUESTION)]).exit_status == 32
    document = same.to_dict()
    assert (document["schema"], document["status"]) == ("holdfast.check/1", "ok")
    result = document["result"]
    assert isinstance(result, dict)
    assert {"verdict", "conditions", "changes", "fingerprint", "next_start"} <= result.keys()


def test_options_that_exclude_each_other() -> None:
    """--json with Markdown, --all with a job."""
    for words in (["check", "--json", "--format", "markdown"], ["check", "--all", "orders"]):
        told = CliRunner().invoke(holdfast, words)
        assert told.exit_code == 2 and "exclude each other" in told.output


def test_the_command_that_accepts_a_change_stays_in_one_line() -> None:
    """At 80 columns, also with a long name: it is pasted into a shell."""
    for name in ("orders", "orders-of-the-whole-shop-by-day"):
        console = Console(file=io.StringIO(), width=80, highlight=False, markup=False)
        pages.check(_answer([replace(checked(PEAKS), job=name)]), console)
        text = console.file.getvalue()  # type: ignore[attr-defined]
        (line,) = [one for one in text.splitlines() if "--accept" in one]
        assert re.search(rf"holdfast run {name} --accept HF3116:[0-9a-f]{{8}}$", line)


def test_the_markdown_says_why() -> None:
    (change,) = checked(PEAKS).changes
    text = drawn(pages.check_markdown, checked(PEAKS))
    assert text.count(f"| {change.why} |") == 1


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project whose job has a checkpoint, where no Java is."""
    for path, data in files_of("stateless").items():
        file = tmp_path / "checkpoints" / "orders" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    (tmp_path / "holdfast.yaml").write_text(
        "project: shop\njobs:\n  orders:\n"
        "    source: {format: json, path: ./in, schema: id long}\n"
        "    sql: select * from source\n    sink: {format: parquet, path: ./out}\n"
    )
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "no-java"))
    return tmp_path


def judged(shop: Path) -> Any:
    """Return the document of `check`."""
    file = str(shop / "holdfast.yaml")
    told = CliRunner().invoke(holdfast, ["check", "orders", "--json", "--project", file])
    return json.loads(told.stdout)


def test_without_java_what_is_declared_is_compared(shop: Path) -> None:
    """With what is missing (HF3158); it is no failure to start Spark."""
    document = judged(shop)
    assert document["error"] is None
    (missing,) = [one for one in document["result"]["changes"] if one["rule"] == "HF3158"]
    assert "JAVA_HOME" in missing["why"]


def test_what_no_longer_fits_the_checkpoint_names_the_plan_to_start_over(shop: Path) -> None:
    """Last, as it loses most; and the command does what it says."""
    file = shop / "holdfast.yaml"
    source = "source: {format: json, path: ./in, schema: id long}"
    two = "sources: {a: {format: json, path: ./in, schema: id long}, b: {format: rate}}"
    query = "select id from a union all select value from b"
    written = file.read_text().replace(source, two).replace("select * from source", query)
    file.write_text(written)
    (found,) = [one for one in judged(shop)["findings"] if one["code"] == "HF2323"]
    *_, last = found["next"]
    text, _, step = last.partition(": ")
    assert text == "or, to start over, as the output is empty"
    assert step == f"holdfast plan reset --project {file} orders --output none"
    planned = command(*shlex.split(step)[1:], "-o", str(shop / "plan.json"))
    assert planned.status == 0, planned.err
    doctor = command("doctor", "orders", "--project", str(file), "--json").document
    (found,) = [one for one in doctor["findings"] if one["code"] == "HF2323"]
    assert found["next"][-1] == last


def test_no_plan_that_is_refused_is_named(shop: Path) -> None:
    """A protected job is not reset."""
    file = shop / "holdfast.yaml"
    declared = file.read_text().replace("path: ./in,", "path: ./other,")
    file.write_text(declared.replace("    sql:", "    protect: true\n    sql:"))
    document = judged(shop)
    assert "HF2324" in [one["code"] for one in document["findings"]]
    assert not [step for one in document["findings"] for step in one["next"] if "plan" in step]


@pytest.mark.parametrize("options", [(), ("--quiet",), ("--json",)])
@pytest.mark.parametrize("verb", ["check", "record"])
def test_who_waits_for_spark_is_told_so(
    verb: str, options: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On standard error, as `run` and `apply` do: it takes the longest."""
    from holdfast.spark import planning

    def unopened(_options: object, _progress: object, step: Callable[[str], None] | None) -> None:
        if step is not None:
            step("starting Spark…")
        raise SparkStartError("HF5213", "Spark could not open a session")

    monkeypatch.setattr(planning, "open_session", unopened)
    project = made(tmp_path, monkeypatch)
    shown = command(verb, JOB, "--project", str(project.file), *options)
    assert shown.status == 52, shown.err
    assert (shown.err.splitlines()[:1] == ["starting Spark…"]) == (not options)
    assert "starting" not in shown.out
