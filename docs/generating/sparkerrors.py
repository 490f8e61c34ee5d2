"""The page of Spark's errors, from the pages that `explain` finds."""

from __future__ import annotations

from docs.generating.markdown import code, page, sentence, table
from holdfast.diagnosis.sparkerrors.catalogue import PAGES, SUBJECTS
from holdfast.diagnosis.sparkerrors.page import Page


def spark_errors_page() -> str:
    """Give the page: every error with its meaning, what not to do, what to do, who sees it."""
    intro = (
        f"{len(PAGES)} errors of Spark's streaming, its state, sources and sinks, old messages and "
        "new error classes alike. `holdfast explain` finds the right one from a pasted message or "
        "stack trace, offline: see [how to](../how-to/explain-an-error.md). Several classes can "
        "lead to one entry, and one error has many messages through the releases."
    )
    classes = table(("error class", "entry"), _conditions())
    return page("Spark errors", intro, *_sections(), "## By error class", classes)


def _conditions() -> list[tuple[str, str]]:
    found = [(condition, one.name) for one in PAGES for condition in one.conditions]
    return [(code(condition), f"[{name}](#{name})") for condition, name in sorted(found)]


def _sections() -> list[str]:
    return [
        part
        for subject, pages in SUBJECTS.items()
        for part in (f"## {subject}", *(_entry(one) for one in pages))
    ]


def _entry(one: Page) -> str:
    found = [*map(code, one.conditions), *(f"“{_shown(text)}”" for text in one.fragments)]
    seen = ", ".join(f"[{number}](codes.md#{number.lower()})" for number in one.codes)
    return "\n\n".join(
        [
            f"### {one.name}",
            f"**{sentence(one.title)}** {sentence(one.means)}",
            "Often advised, and wrong:",
            "\n".join(f"- {sentence(text)}" for text in one.avoid),
            "What to do:",
            "\n".join(f"- {sentence(text)}" for text in one.steps),
            f"Seen before the start by: {seen}." if seen else f"Not seen before: {one.unseen}.",
            f"Found by: {', '.join(found)}.",
        ]
    )


def _shown(fragment: str) -> str:
    """Set a fragment so that Markdown leaves its signs alone."""
    for sign in "<>[]*_`":
        fragment = fragment.replace(sign, f"\\{sign}")
    return fragment
