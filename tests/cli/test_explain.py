"""`holdfast explain CODE|TEXT`: every code has its page, a pasted error finds one."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import holdfast as package
from docs.generating.schemas import document_schema
from holdfast.codes import CODES
from holdfast.diagnosis.explain.pages.catalogue import PAGES
from tests.cli.running import holdfast

LOST_COMMIT = "[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log."
SECRET = "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"


@pytest.mark.parametrize("number", [code.number for code in CODES])
def test_every_code_has_a_page(number: str) -> None:
    """Title, why and next step, offline."""
    answered = holdfast("explain", number.lower(), "--json")
    assert answered.status == 0
    page = answered.document["result"]
    assert page["code"] == number
    assert page["kind"] == "code"
    assert page["title"]
    assert page["why"]
    assert page["next"]
    assert number in holdfast("explain", number).out


def test_an_unknown_code_names_the_nearest() -> None:
    """A usage error."""
    shown = holdfast("explain", "HF2299")
    assert shown.status == 2
    assert "HF22" in shown.err


@pytest.mark.parametrize("name", [page.name for page in PAGES])
def test_every_page_can_be_shown(name: str) -> None:
    """With what not to do, what to do, and who sees it beforehand or why nobody does."""
    shown = holdfast("explain", name)
    assert shown.status == 0
    assert shown.out.startswith(f"{name}: ")
    for label in ("means", "wrong", "next"):
        assert f"\n  {label}" in shown.out
    assert ("\n  seen by" in shown.out) != ("\n  unseen" in shown.out)


def test_a_pasted_error_finds_its_page() -> None:
    """As words, quoted or not."""
    for words in ((LOST_COMMIT,), tuple(LOST_COMMIT.split())):
        answered = holdfast("explain", "--json", *words)
        assert answered.status == 0
        page = answered.document["result"]
        assert page["kind"] == "spark-error"
        assert page["page"] == "false-concurrent-update"
        assert page["matched"] == "CONCURRENT_STREAM_LOG_UPDATE"
        assert page["code"] is None
        assert page["avoid"]
        assert {"code": "HF2203", "title": "a commit has no offsets"} in page["seen_by"]


def test_a_trace_is_read_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("java.lang.X: batch 7 doesn't exist\n\tat a.B"))
    answered = holdfast("explain", "-", "--json")
    assert answered.document["result"]["page"] == "batch-does-not-exist"


def test_bytes_that_are_no_text_are_taken_from_standard_input() -> None:
    """A log need not be clean."""
    command = [sys.executable, "-m", "holdfast", "explain", "-", "--json"]
    given = b"\xff\xfe\x00 [BATCH_METADATA_NOT_FOUND] Unable to find batch \xe9"
    done = subprocess.run(command, input=given, capture_output=True, check=True)
    assert json.loads(done.stdout)["result"]["page"] == "file-sink-log-missing"


def test_an_unknown_text_is_said_to_be_unknown() -> None:
    """A warning with its code, status 3, and no guess."""
    answered = holdfast("explain", "--json", "ZeroDivisionError: division by zero")
    assert answered.status == 3
    document = answered.document
    assert document["status"] == "findings"
    assert [one["code"] for one in document["findings"]] == ["HF1004"]
    assert document["result"]["kind"] == "none"
    assert document["result"]["page"] is None
    shown = holdfast("explain", "ZeroDivisionError: division by zero")
    assert shown.status == 3
    assert "no page explains this error" in shown.out


def test_an_unknown_text_names_near_codes() -> None:
    """By the words that they share."""
    text = "the watermark of the offsets entry does not follow"
    nearest = holdfast("explain", "--json", text).document["result"]["nearest"]
    assert "HF2218" in [one["code"] for one in nearest]


def test_no_text_is_a_usage_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(" \n"))
    assert holdfast("explain", "-").status == 2
    assert holdfast("explain").status == 2


def test_output_of_holdfast_itself_finds_the_code() -> None:
    text = "error HF2204: offsets/ has a gap: batch 1131 is missing between 1130 and 1132"
    assert holdfast("explain", "--json", text).document["result"]["code"] == "HF2204"


@pytest.mark.parametrize(
    "text",
    [
        f"Wrong basePath s3a://me:{SECRET}@bucket/a for the root path: /b",
        f"ValueError: password={SECRET} is wrong",
        f"HF{SECRET}",
        SECRET,
    ],
)
def test_nothing_of_the_text_is_shown(text: str) -> None:
    """Whether a page is found or not, in no form of output."""
    for words in (("explain", text), ("explain", text, "--json")):
        shown = holdfast(*words)
        assert SECRET not in shown.out + shown.err
        assert SECRET.upper() not in shown.out + shown.err


@pytest.mark.parametrize("text", ["HF2204", LOST_COMMIT, "STREAM_FAILED", "unheard of"])
def test_the_schema_fits_every_kind_of_answer(text: str) -> None:
    document = holdfast("explain", "--json", text).document
    jsonschema.validate(document, document_schema("explain"))


def test_explaining_needs_neither_spark_nor_a_checkpoint_reader() -> None:
    """It stays quick: no module that only other commands need is imported."""
    program = (
        "import sys; from holdfast.cli.main import run;"
        "run(['explain', '--json', 'STREAM_FAILED']);"
        "heavy = {'pyspark', 'py4j', 'fsspec', 'pydantic', 'yaml', 'rich', 'holdfast.targets',"
        "'holdfast.library.looking'};"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr.strip() == "[]"


@pytest.mark.parametrize("given", [None, 7, ValueError("x")])
def test_what_is_no_text_is_a_usage_error_in_a_program(given: Any) -> None:
    with pytest.raises(package.HoldfastError, match="explain takes a code or the text") as told:
        package.explain(given)
    assert told.value.next_steps == ("help(holdfast.explain)",)


def test_programs_can_explain_too() -> None:
    """The same answer, typed."""
    answer = package.explain(LOST_COMMIT)
    assert isinstance(answer.result, package.Explanation)
    assert answer.result.page == "false-concurrent-update"


def test_a_captured_trace_is_explained() -> None:
    """End to end, with a whole stack trace of real Spark."""
    folder = Path(__file__).resolve().parents[1] / "diagnosis" / "explain" / "pages" / "traces"
    trace = next((folder / "wrong-base-path").glob("*.txt")).read_text(encoding="utf-8")
    assert holdfast("explain", "--json", trace).document["result"]["page"] == "wrong-base-path"


def test_the_name_of_a_file_is_answered_with_how_to_read_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my err.log").write_text("java.lang.OutOfMemoryError: Java heap space")
    said = holdfast("explain", "my err.log", "--json")
    assert (said.status, said.document["error"]["code"]) == (2, "HF1001")
    assert said.document["next"] == ["holdfast explain - < 'my err.log'"]
