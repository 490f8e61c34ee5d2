"""The report for tickets: every fact in it, and nothing that breaks out of its line."""

from __future__ import annotations

from dataclasses import replace

from holdfast.diagnosis.evidence.report import fact_text, markdown_report, moment_text
from holdfast.diagnosis.inspection.evidence import FACTS, Basis, TextFact
from tests.checkpoint.pictures import files_of
from tests.corpus.loading import sample
from tests.diagnosis.doctor.gathering import gathered


def test_restarts_are_told_with_their_signs() -> None:
    """When, how sure and why."""
    report = markdown_report(gathered(files_of("upgrade")))
    assert "- before batch 3, 2026-" in report
    assert "(certain): 17 settings are pinned where there were 10" in report
    assert "- none" in markdown_report(gathered(files_of("stateless")))


def test_a_ready_one_says_so() -> None:
    """And names no lack."""
    one = sample("delta", "4.2.0")
    report = markdown_report(gathered(one.files(), one.output_files()))
    assert "Every essential fact is known." in report
    assert "delta out, has batches up to 2" in report
    assert "(essential)" not in report


def test_no_text_breaks_out_of_its_line() -> None:
    """Line ends, bars, backticks, tags and control characters of a hostile checkpoint."""
    answer = gathered(files_of("stateless"))
    hostile = "a|b`c`<script>\n# title\r\n\x1b[31m[x](http://y)"
    fact = TextFact(hostile, Basis.READ, hostile)
    lines = markdown_report(
        replace(answer, result=replace(answer.result, query_id=fact))
    ).splitlines()
    (row,) = [line for line in lines if line.startswith("| query id")]
    assert row.count("a\\|b\\`c\\`\\<script\\> # title \\[31m\\[x\\](http://y)") == 2
    assert not [line for line in lines if line.startswith("# title")]


def test_every_fact_has_a_text_in_every_state() -> None:
    """Known or not."""
    for name, spark in (("fresh", "4.3.0"), ("join", "3.5.9"), ("join", "4.0.5")):
        found = gathered(files_of(name, spark)).result
        assert all(fact_text(found, fact) for fact in FACTS)
    unknown = gathered(files_of("fresh")).result
    assert fact_text(unknown, "state_store_provider") == "unknown"
    stateless = gathered(files_of("stateless")).result
    assert fact_text(stateless, "state_store_provider") == "none, it keeps no state"


def test_a_time_that_does_not_exist_is_a_number() -> None:
    """A damaged entry may say anything."""
    assert moment_text(0) == "1970-01-01T00:00:00Z"
    assert moment_text(2**62) == f"{2**62} ms"


def test_secrets_are_gone() -> None:
    """Whoever draws it."""
    answer = gathered(files_of("stateless"))
    fact = TextFact("x", Basis.READ, "postgresql://u:s3Cr00-Zq919xK@db/x")
    report = markdown_report(replace(answer, result=replace(answer.result, output_mode=fact)))
    assert "s3Cr00" not in report
