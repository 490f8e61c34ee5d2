"""The reference is current and complete: commands, options, fields, codes, exit statuses."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import jsonschema
import pytest
import yaml

from docs.generate import REFERENCE, stale, write
from docs.generating.advice import advice_page
from docs.generating.envelope import ENVELOPE, ERROR, FINDING
from docs.generating.fieldnotes import NOTES
from docs.generating.markdown import sentence
from docs.generating.projectfile import MODELS, keys_of
from docs.generating.projectkeys import EXAMPLE, KEYS
from docs.generating.resulttypes import RESULTS, attribute_docs, names_within, types_within
from docs.generating.schemas import document_schema
from holdfast.answers import Answer, error_document
from holdfast.cli.main import COMMANDS, holdfast, run
from holdfast.codes import CODES
from holdfast.demonstration.story import Count, Demonstration, Kill
from holdfast.errors import UsageError
from holdfast.findings import Finding, Place, Severity
from holdfast.jobs.discovery import load_project
from holdfast.records.run import Ended, Failure
from holdfast.running.report import JobReport, RunReport
from tests.advice.table import Kind
from tests.advice.table import table as followed_steps
from tests.advice.unproved import UNPROVED
from tests.corpus.loading import corpus
from tests.docs.pages import REPOSITORY

SAMPLE = REPOSITORY / "demo" / "orders"


def text_of(name: str) -> str:
    """Give the text of a page of the reference."""
    return (REFERENCE / name).read_text(encoding="utf-8")


def test_the_reference_is_current() -> None:
    assert stale() == [], "run `make docs`"


def test_a_stale_page_is_found(tmp_path: Path) -> None:
    write(tmp_path)
    assert stale(tmp_path) == []
    (tmp_path / "codes.md").write_text("old")
    (tmp_path / "left-over.md").write_text("nobody writes this")
    (tmp_path / "schemas" / "diff.json").unlink()
    assert stale(tmp_path) == ["codes.md", "left-over.md", "schemas/diff.json"]


def test_every_step_that_acts_is_on_the_page_of_advice() -> None:
    """With its outcome; what was not followed yet stands apart."""
    text = advice_page()
    for one in followed_steps():
        if one.kind is not Kind.READS:
            assert f"[{one.code}](codes.md#{one.code.lower()}) | {sentence(one.step)} |" in text
    assert ("## Not executed yet" in text) == bool(UNPROVED)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_described(name: str) -> None:
    context = click.Context(holdfast, info_name="holdfast")
    command = holdfast.get_command(context, name)
    assert command is not None
    section = text_of("commands.md").partition(f"## holdfast {name}\n")[2].partition("\n## ")[0]
    params = [one for each in leaves(command) for one in each.params]
    names = [text for one in params for text in one.opts if text.startswith("-")]
    assert names
    assert [one for one in names if not re.search(rf"{one}(?![\w-])", section)] == []


def leaves(command: click.Command) -> list[click.Command]:
    """Return the command, or those of a group."""
    return [*command.commands.values()] if isinstance(command, click.Group) else [command]


def test_every_code_has_its_page() -> None:
    text = text_of("codes.md")
    assert [one.number for one in CODES if f"### {one.number}\n" not in text] == []


def test_every_exit_status_is_described() -> None:
    text = text_of("exit-statuses.md")
    assert {one.exit_status for one in CODES} | {0, 3, 32, 60, 129, 130, 143} == {
        int(line.split("|")[1]) for line in _rows(text.partition("## Reserved")[0])
    }


def _rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| ") and line[2].isdigit()]


def test_every_command_has_a_result() -> None:
    assert list(RESULTS) == list(COMMANDS)


def test_the_document_is_as_the_code_writes_it() -> None:
    finding = Finding("HF2204", Severity.FATAL, "a gap", Place("offsets/4"))
    document = Answer("inspect", "here", None, (finding,)).document("0")
    assert list(document) == list(ENVELOPE)
    findings: Any = document["findings"]
    assert list(findings[0]) == list(FINDING)
    error: Any = error_document("inspect", "0", UsageError("HF1001", "what?"))["error"]
    assert list(error) == list(ERROR)


def documents(capsys: pytest.CaptureFixture[str], *commands: list[str]) -> list[dict[str, Any]]:
    """Run commands with --json and give what they print."""
    found: list[dict[str, Any]] = []
    for words in commands:
        run([*words, "--json"])
        found.append(json.loads(capsys.readouterr().out))
    return found


def results_of_spark() -> list[dict[str, Any]]:
    """Give documents as `run` and `demo` print them; both need Spark."""
    failure = Failure("ValueError", "HF5301", "no such shop")
    failed = JobReport("orders", None, None, None, 0, 0, 0, Ended.FAILED, 0.1, "/c", None, None)
    run = RunReport((replace(failed, failure=failure),), None)
    kill = Kill("orders", "batch.left", "about to commit", 1, True, True, False, "rerun batch 1")
    demo = Demonstration("/d", (kill,), (Count("raw", 2, 2, 0, 0),), 1, 0, 0, 9.5)
    return [Answer("run", "/c", run).document("0"), Answer("demo", "/d", demo).document("0")]


def test_schemas_fit_what_commands_print(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(SAMPLE, broken)
    (broken / "offsets" / "4").unlink()
    printed = documents(
        capsys,
        ["inspect", str(SAMPLE)],
        ["inspect", "--verify", str(broken)],
        ["inspect", str(tmp_path / "nowhere")],
        ["state", str(SAMPLE)],
        ["state", "--summary", str(SAMPLE)],
        ["state", "--output", str(tmp_path / "rows.csv"), str(SAMPLE)],
        ["state", "--where", "nobody = 1", str(SAMPLE)],
        ["diff", str(SAMPLE), str(broken)],
        ["explain", "HF2204"],
        ["init", str(tmp_path / "shop")],
        ["status", "--project", str(tmp_path / "shop" / "holdfast.yaml")],
        ["run", "nowhere", "--project", str(tmp_path / "shop" / "holdfast.yaml")],
    )
    statuses = [
        "ok",
        "findings",
        "error",
        "ok",
        "ok",
        "ok",
        "error",
        "ok",
        "ok",
        "ok",
        "ok",
        "error",
    ]
    assert [one["status"] for one in printed] == statuses
    for document in [*printed, *results_of_spark()]:
        schema = document_schema(document["command"])
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.validate(document, _closed_schema(schema))


def test_the_schema_fits_every_checkpoint_of_the_corpus(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    schema = _closed_schema(document_schema("inspect"))
    validator = jsonschema.Draft202012Validator(schema)
    newest = [one for one in corpus() if one.spark in ("4.3.0", "4.2.0")]
    assert newest
    for sample in newest:
        place = sample.extract(tmp_path / sample.spark / sample.name)
        (document,) = documents(capsys, ["inspect", str(place)])
        assert [error.message for error in validator.iter_errors(document)] == [], str(sample)


def _closed_schema(schema: Any) -> Any:
    """Give the schema with objects closed: a field that it does not describe is an error."""
    if isinstance(schema, dict):
        closed = {key: _closed_schema(value) for key, value in schema.items()}
        if schema.get("type") == "object" and "properties" in schema:
            closed["additionalProperties"] = False
        return closed
    return [_closed_schema(one) for one in schema] if isinstance(schema, list) else schema


def test_every_field_is_described() -> None:
    text = text_of("results.md")
    for name in RESULTS:
        section = text.partition(f"## {name}: result")[2].partition("\n## ")[0]
        schema = document_schema(name)
        for kind, definition in schema["$defs"].items():
            if kind not in ("finding", "error"):
                fields = definition.get("properties", {})
                assert [one for one in fields if f"| `{one}` |" not in section] == [], kind


@pytest.mark.parametrize("name", RESULTS)
def test_every_field_has_a_meaning_and_one_only(name: str) -> None:
    for cls in types_within(RESULTS[name]):
        fields = names_within(cls)
        notes, docs = NOTES.get(cls.__name__, {}), attribute_docs(cls)
        assert [one for one in fields if not {one} & {*notes, *docs}] == [], cls.__name__
        assert {*notes} - {*fields} == set(), "a note on a field that is not there"
        assert {*notes} & {*docs} == set(), "the code has a docstring now: remove the note"


def test_every_key_of_the_project_file_is_described() -> None:
    for model in MODELS.values():
        assert list(KEYS[model.__name__]) == keys_of(model), model.__name__


def test_the_example_of_a_project_file_is_one(tmp_path: Path) -> None:
    (tmp_path / "holdfast.yaml").write_text(EXAMPLE, encoding="utf-8")
    project = load_project(tmp_path / "holdfast.yaml")
    place = project.checkpoint_of("sensor-merge-gold").shown
    assert place == "s3a://lake/checkpoints/sensor-merge-gold"


def test_the_schema_of_the_project_file_accepts_the_example() -> None:
    schema = json.loads(text_of("schemas/project.json"))
    jsonschema.validate(yaml.safe_load(EXAMPLE), schema)
