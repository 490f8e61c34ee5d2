"""Pages about errors of Spark: enough, distinct, true to the codes, never a re-plan."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from holdfast.codes import CODES
from holdfast.diagnosis.explain.pages import Page
from holdfast.diagnosis.explain.pages.catalogue import PAGES, SUBJECTS
from holdfast.redaction import redact

NUMBERS = {code.number for code in CODES}
REMOVAL = re.compile(r"\b(?:delete|remove|clear|wipe|erase|drop|cut|rm)\b", re.IGNORECASE)
KEPT = re.compile(
    r"offset|commit|checkpoint|entr|_spark_metadata|\bstate\b|metadata", re.IGNORECASE
)
CHECK_OFF = re.compile(
    r"stateSchemaCheck|formatValidation|verifyCheckpointDirectoryEmpty|verifyMetadataExists|"
    r"checkUnfinishedRepartition|escapedPathCheck"
)


def texts(page: Page) -> tuple[str, ...]:
    """Give everything that a page says."""
    return (page.title, page.means, *page.avoid, *page.steps, page.unseen)


def test_there_are_enough_pages() -> None:
    assert len(PAGES) >= 80
    assert sum(map(len, SUBJECTS.values())) == len(PAGES)


@pytest.mark.parametrize("what", ["name", "title", "means", "steps", "avoid"])
def test_no_two_pages_say_the_same(what: str) -> None:
    """Names, titles, bodies and advice are each page's own."""
    counted = Counter(getattr(page, what) for page in PAGES)
    assert [one for one, times in counted.items() if times > 1] == []


def test_no_condition_or_fragment_leads_to_two_pages() -> None:
    ways = Counter(way for page in PAGES for way in (*page.conditions, *page.fragments))
    assert [one for one, times in ways.items() if times > 1] == []


def test_every_page_is_whole() -> None:
    """Found somehow, with all its parts; seen by codes, or why not."""
    for page in PAGES:
        assert page.conditions or page.fragments, page.name
        assert page.avoid, page.name
        assert page.steps, page.name
        assert bool(page.codes) != bool(page.unseen), page.name
        assert set(page.codes) <= NUMBERS, page.name
        assert re.fullmatch(r"[a-z][a-z-]+", page.name), page.name
        assert not page.title.endswith("."), page.name
        assert all(one.endswith(".") for one in (page.means, *page.avoid, *page.steps)), page.name
        assert set(re.findall(r"HF\d{4}", " ".join(texts(page)))) <= NUMBERS, page.name


STEPS = [(page.name, step) for page in PAGES for step in page.steps]


def test_no_step_makes_spark_plan_a_known_batch_anew() -> None:
    """Nothing of a checkpoint is removed, no check is switched off."""
    removing = [
        (name, sentence)
        for name, step in STEPS
        for sentence in re.split(r"[.;:] ", step)
        if REMOVAL.search(sentence) and KEPT.search(sentence)
    ]
    assert removing == []
    assert [(name, step) for name, step in STEPS if CHECK_OFF.search(step)] == []


def test_a_new_checkpoint_is_only_advised_with_an_output_of_its_own() -> None:
    """A new one over an old output loses or doubles rows."""
    advised = [one for one in STEPS if re.search(r"(?:new|own) checkpoint", one[1])]
    assert advised
    apart = re.compile(r"output|identity|starting|another")
    assert [one for one in advised if not apart.search(one[1])] == []


def test_every_page_is_shown_as_it_stands() -> None:
    """Redaction finds no secret in it."""
    shown = [(page.name, text) for page in PAGES for text in (*texts(page), *page.fragments)]
    assert [(name, text) for name, text in shown if redact(text) != text] == []


def test_wrappers_are_few() -> None:
    assert {page.name for page in PAGES if page.wraps} == {
        "stream-failed",
        "state-load-failed",
        "foreach-batch-failed",
        "foreach-failed",
        "python-runner-start",
    }
