"""From a pasted error to its page: real traces, foreign ones, unrelated ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.diagnosis.explain.pages import Page
from holdfast.diagnosis.explain.pages.catalogue import PAGES, find_page, page_named
from tests.diagnosis.explain.pages.foreign import FOREIGN, INSIDE, LOG_LINES
from tests.diagnosis.explain.pages.unrelated import UNRELATED

TRACES = Path(__file__).resolve().parent / "traces"
TRUTH = Path(__file__).resolve().parents[3] / "restarts" / "truth"
CAPTURED = sorted(TRACES.glob("*/*.txt"))
PAGES_WITH_A_TRACE = 140
"""How many pages are found from a trace that real Spark wrote; more are welcome."""


def name_for(text: str) -> str | None:
    """Give the name of the page that is found."""
    match = find_page(text)
    return match.page.name if match else None


def test_every_captured_trace_finds_its_page() -> None:
    """The folder's name is the page's."""
    found = {trace: name_for(trace.read_text(encoding="utf-8")) for trace in CAPTURED}
    assert {trace: name for trace, name in found.items() if name != trace.parent.name} == {}


def test_many_pages_have_a_captured_trace() -> None:
    """And none of the folders is of a page that is gone."""
    captured = {trace.parent.name for trace in CAPTURED}
    assert captured <= {page.name for page in PAGES}
    assert len(captured) >= PAGES_WITH_A_TRACE


def test_traces_hold_nothing_of_a_machine() -> None:
    """No path but those that were reduced."""
    for trace in CAPTURED:
        text = trace.read_text(encoding="utf-8")
        assert "/home/" not in text
        assert "/work/" not in text
        assert "/tmp/" not in text, trace


@pytest.mark.parametrize(("page", "text"), FOREIGN, ids=range(len(FOREIGN)))
def test_a_foreign_trace_finds_its_page(page: str, text: str) -> None:
    """Paths, ids, hosts and languages do not matter."""
    assert name_for(text) == page


@pytest.mark.parametrize(("page", "text"), LOG_LINES, ids=range(len(LOG_LINES)))
def test_a_common_line_of_a_log_finds_its_page(page: str, text: str) -> None:
    """By itself, without the trace around it, and in a log that is JSON."""
    assert name_for(text) == page
    assert name_for(json.dumps({"msg": text})) == page


@pytest.mark.parametrize(("page", "text"), INSIDE, ids=range(len(INSIDE)))
def test_what_is_special_wins_over_what_is_general(page: str, text: str) -> None:
    assert name_for(text) == page


def test_every_general_page_is_found_by_a_line() -> None:
    """None is there that no line of a log leads to."""
    assert {page.name for page in PAGES if page.general} <= {page for page, _ in LOG_LINES}


def test_there_are_enough_foreign_and_unrelated_ones() -> None:
    assert len(FOREIGN) >= 20
    assert len(UNRELATED) >= 20


@pytest.mark.parametrize("text", UNRELATED)
def test_an_unrelated_error_finds_none(text: str) -> None:
    assert name_for(text) is None


@pytest.mark.parametrize("path", sorted(TRUTH.glob("*.json")), ids=lambda path: path.stem)
def test_recorded_restarts_find_a_page(path: Path) -> None:
    """Every class that real Spark raised over a damaged checkpoint is known."""
    classes = {
        one["error_class"]: one["error"]
        for one in json.loads(path.read_text(encoding="utf-8"))
        if one["error_class"] and one["error_class"].split(".")[0].isupper()
    }
    assert classes
    for name, message in classes.items():
        assert name_for(message) is not None or name.startswith("INVALID_CONF_VALUE"), name


def ways_to(page: Page) -> Iterator[str]:
    """Yield texts that a page says it is found by."""
    for condition in page.conditions:
        yield f"Exception: [{condition}] something"
        yield condition
    for fragment in page.fragments:
        yield fragment.replace("…", " and then ").replace("<path>", "/x/y").replace("#", "7")


def test_every_condition_and_fragment_leads_to_its_page() -> None:
    """Nothing that a page says it is found by finds another one."""
    ways = [(page.name, text) for page in PAGES for text in ways_to(page)]
    assert len(ways) > len(PAGES)
    assert [(name, text) for name, text in ways if name_for(text) != name] == []


def test_a_sub_class_comes_before_its_class() -> None:
    assert name_for("[KAFKA_DATA_LOSS] x") == "kafka-data-loss"
    assert name_for("[KAFKA_DATA_LOSS.PARTITIONS_DELETED] x") == "kafka-partitions-deleted"


def test_an_unknown_sub_class_finds_its_class() -> None:
    assert name_for("[KAFKA_DATA_LOSS.OF_THE_FUTURE] x") == "kafka-data-loss"


def test_the_cause_comes_before_what_is_wrapped_around() -> None:
    """Whether the cause has a class or an old message."""
    head = "[STREAM_FAILED] Query terminated with exception: "
    assert name_for(head) == "stream-failed"
    assert name_for(f"{head}batch 5 doesn't exist") == "batch-does-not-exist"
    inner = "\nCaused by: [CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED] File: x"
    outer = "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred during loading state."
    assert name_for(f"{head}{outer}{inner}") == "state-file-checksum"


def test_the_innermost_of_two_classes_wins() -> None:
    text = "[BATCH_METADATA_NOT_FOUND] x\nCaused by: [CONCURRENT_STREAM_LOG_UPDATE] y"
    assert name_for(text) == "false-concurrent-update"


def test_the_longest_fragment_wins() -> None:
    """A commit that is empty is also an incomplete log file."""
    text = "IllegalStateException: Incomplete log file in the offset commit log"
    assert name_for(text) == "commit-entry-empty"


def test_what_matched_is_never_a_part_of_the_text() -> None:
    match = find_page("Wrong basePath s3a://key:secret@bucket/a for the root path: /b")
    assert match is not None
    assert "bucket" not in match.matched


def test_a_page_can_be_named() -> None:
    assert page_named("wrong-base-path") is not None
    assert page_named("no-such-page") is None


def test_a_huge_text_is_looked_at_from_both_ends() -> None:
    """Causes stand at the end, and nothing takes for ever."""
    assert name_for("x " * 1_500_000 + "batch 5 doesn't exist") == "batch-does-not-exist"
