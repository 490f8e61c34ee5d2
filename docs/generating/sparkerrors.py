"""The pages about Spark's errors: an index, and one page per subject."""

from __future__ import annotations

from docs.generating.markdown import code, page, sentence, table
from holdfast.diagnosis.explain.pages import Page
from holdfast.diagnosis.explain.pages.catalogue import PAGES, SUBJECTS

FOLDER = "spark-errors"
FILES = {
    "The logs of a checkpoint": ("logs", "Offset log, commit log and source logs"),
    "The query id and an empty checkpoint": ("metadata", "The metadata file and the query id"),
    "Where the checkpoint is": ("checkpoint-location", "Checkpoint location"),
    "Two writers": ("concurrency", "Concurrent queries"),
    "Loading and storing state": ("state-store", "Loading and storing state"),
    "RocksDB state": ("rocksdb", "RocksDB state store"),
    "The schema of the state": ("state-schema", "State schema"),
    "Rows in the state": ("state-rows", "Rows in the state store"),
    "Evolution, repartitioning, real-time mode": (
        "evolution",
        "Query evolution, repartitioning, real-time mode",
    ),
    "Kafka": ("kafka", "Kafka source"),
    "Delta and Iceberg": ("delta-and-iceberg", "Delta and Iceberg"),
    "File source": ("file-source", "File source"),
    "File sink": ("file-sink", "File sink"),
    "Functions and Python": ("functions", "foreachBatch and Python functions"),
    "Queries that Spark refuses": ("refused-queries", "Queries that Spark refuses"),
    "Spark's reader of state": ("state-reader", "State data source"),
    "Memory, and what is wrapped around": ("memory", "Memory, and wrapper errors"),
    "Driver, executors and cluster": ("cluster", "Driver, executors and cluster"),
    "Access": ("access", "Denied access"),
    "Jars": ("jars", "Missing and conflicting jars"),
}
"""Subject to the name of its page and the title of that page."""


def spark_errors_pages() -> dict[str, str]:
    """Return the index and the page of each subject, by path below docs/reference."""
    subjects = {_path(subject): _subject_page(subject) for subject in SUBJECTS}
    return {f"{FOLDER}.md": _index(), **subjects}


def _index() -> str:
    intro = (
        f"{len(PAGES)} errors that Spark raises around streaming queries, state, sources and "
        "sinks. To find the entry for a message or a stack trace, paste it into "
        "`holdfast explain`: see [how to](../how-to/explain-an-error.md). It works offline and "
        "also knows the wording of older releases."
    )
    subjects = table(
        ("subject", "errors"),
        ((f"[{FILES[one][1]}]({_path(one)})", str(len(SUBJECTS[one]))) for one in SUBJECTS),
    )
    entries = table(("entry", "error"), _entries())
    classes = table(("error class", "entry"), _conditions())
    return page(
        "Spark errors", intro, subjects, "## All entries", entries, "## By error class", classes
    )


def _path(subject: str) -> str:
    return f"{FOLDER}/{FILES[subject][0]}.md"


def _links() -> dict[str, str]:
    """Return the link to each entry, by its name."""
    return {
        one.name: f"[{one.name}]({_path(subject)}#{one.name})"
        for subject, pages in SUBJECTS.items()
        for one in pages
    }


def _entries() -> list[tuple[str, str]]:
    links = _links()
    return [(links[one.name], one.title) for one in PAGES]


def _conditions() -> list[tuple[str, str]]:
    links = _links()
    found = [(condition, links[one.name]) for one in PAGES for condition in one.conditions]
    return [(code(condition), link) for condition, link in sorted(found)]


def _subject_page(subject: str) -> str:
    back = "All subjects, and the list by error class: [Spark errors](../spark-errors.md)."
    title = f"Spark errors: {FILES[subject][1]}"
    return page(title, back, *(_entry(one) for one in SUBJECTS[subject]))


def _entry(one: Page) -> str:
    found = [*map(code, one.conditions), *(f"“{_shown(text)}”" for text in one.fragments)]
    seen = ", ".join(f"[{number}](../codes.md#{number.lower()})" for number in one.codes)
    return "\n\n".join(
        [
            f"## {one.name}",
            f"**{sentence(one.title)}** {sentence(one.means)}",
            "Often advised, and wrong:",
            "\n".join(f"- {sentence(text)}" for text in one.avoid),
            "What to do:",
            "\n".join(f"- {sentence(text)}" for text in one.steps),
            f"Reported before the start by: {seen}."
            if seen
            else f"Not reported before the start: {one.unseen}.",
            f"Matches: {', '.join(found)}.",
        ]
    )


def _shown(fragment: str) -> str:
    """Set a fragment so that Markdown leaves its signs alone."""
    for sign in "<>[]*_`":
        fragment = fragment.replace(sign, f"\\{sign}")
    return fragment
