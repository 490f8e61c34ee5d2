"""What `run` refuses at the first start is reported before, and a good job gets no finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import library
from holdfast.findings import Severity
from tests.fuzz.children import in_child

GOOD = """
project: p
jobs:
  orders:
    source: {format: json, path: ./in, schema: "a string, b array<struct<c: int>>, d decimal(9,2)"}
    transform: pipeline:clean
    sink: {format: delta, path: ./lake}
  totals:
    source: {format: delta, path: ./lake}
    sql: select * from source
    sink: {format: custom, function: pipeline:deliver}
"""
CODE = "from helpers import clean\ndeliver = print\n"


def found(folder: Path, text: str, job: str = "orders") -> dict[str, str]:
    """Ask the doctor about a job that never ran, and return its messages by code."""
    (folder / "in").mkdir()
    (folder / "pipeline.py").write_text(CODE)
    (folder / "holdfast.yaml").write_text(text)
    findings = library.doctor(job, project=folder).findings
    errors = [one for one in findings if one.severity is Severity.ERROR]
    assert all(one.next_steps for one in errors)
    return {one.code: one.message for one in errors}


@pytest.mark.parametrize("job", ["orders", "totals"])
def test_a_job_that_can_start_has_nothing_to_report(tmp_path: Path, job: str) -> None:
    """Also one that reads what another job is still to write."""
    assert found(tmp_path, GOOD, job) == {}


@pytest.mark.parametrize(
    ("written", "wrong", "code", "words"),
    [
        ("./in,", "./nowhere,", "HF5101", "/nowhere"),
        ("format: json", "format: jsn", "HF5103", "did you mean json?"),
        (', schema: "a string, b array<struct<c: int>>, d decimal(9,2)"', "", "HF5104", "schema:"),
        ("a string", "a strng", "HF5102", "did you mean string?"),
        ("pipeline:clean", "pipelin:clean", "HF5111", "pipelin.py"),
        ("pipeline:clean", "pipeline:claen", "HF5113", "did you mean clean?"),
    ],
)
def test_what_a_first_start_is_refused_for(
    tmp_path: Path, written: str, wrong: str, code: str, words: str
) -> None:
    assert written in GOOD
    messages = found(tmp_path, GOOD.replace(written, wrong, 1))
    assert words in messages.pop(code)
    assert messages == {}


def test_a_delta_table_that_nobody_writes_is_missing(tmp_path: Path) -> None:
    alone = GOOD.replace(
        "source: {format: delta, path: ./lake}", "source: {format: delta, path: ./x}"
    )
    assert [*found(tmp_path, alone, "totals")] == ["HF5105"]


@pytest.mark.parametrize(
    ("denied", "job", "code"),
    [("secret", "orders", "HF5107"), ("mods", "orders", "HF7002"), ("lake", "totals", "HF5107")],
)
def test_what_this_user_may_not_look_at_is_reported_as_such(
    tmp_path: Path, denied: str, job: str, code: str
) -> None:
    """The job may run as another user: nothing is called missing."""
    text = GOOD.replace("./in", "./secret/in").replace("pipeline:clean", "mods.code:clean")
    text = text.replace("path: ./lake", "path: ./lake/orders", 1)
    text = text.replace("{format: delta, path: ./lake}", "{format: delta, path: ./lake/orders}")
    for folder in ("secret/in", "lake/orders", "mods"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "mods/code.py").write_text(CODE)
    (tmp_path / denied).chmod(0)

    def said() -> str:
        return "\n".join(f"{one}: {why}" for one, why in found(tmp_path, text, job).items())

    try:
        told = in_child(said, without_capabilities=True)
    finally:
        (tmp_path / denied).chmod(0o755)
    assert told.startswith(f"{code}: ") and told.endswith(" was denied")


def test_a_module_that_is_no_python_is_reported(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def clean(:\n")
    messages = found(tmp_path, GOOD.replace("pipeline:clean", "broken:clean"))
    assert [*messages] == ["HF5112"]


@pytest.mark.parametrize(
    ("written", "other"),
    [
        ("./in,", "'./in/*/day=*',"),
        ("./in,", "s3://bucket/in,"),
        ("format: json", "format: com.example.Source"),
        ("format: json", "format: mqtt"),
        ("a string", "a geography"),
    ],
)
def test_what_only_spark_can_know_is_left_to_it(tmp_path: Path, written: str, other: str) -> None:
    assert found(tmp_path, GOOD.replace(written, other, 1)) == {}
