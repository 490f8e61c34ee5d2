"""Draws the page of `explain`."""

from __future__ import annotations

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from holdfast.answers import Answer
from holdfast.diagnosis.explain.explaining import Explanation, Kind


def draw_explanation(answer: Answer[Explanation], console: Console) -> None:
    """Draw the page."""
    page = answer.result
    console.print(_headline(page), markup=False)
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, text in _rows(page):
        grid.add_row(label, text)
    console.print(Padding(grid, (0, 0, 0, 2)))


def _headline(page: Explanation) -> str:
    if page.kind is Kind.CODE:
        return f"{page.code}: {page.title}"
    return page.title if page.page is None else f"{page.page}: {page.title}"


def _rows(page: Explanation) -> list[tuple[str, str]]:
    """Return label and text of each line; a page about an error of Spark has more of them."""
    means = "why" if page.kind is Kind.CODE else "means"
    return [
        *([("found by", page.matched)] if page.matched else []),
        (means, page.why),
        *(("wrong", one) for one in page.avoid),
        *(("next", one) for one in page.next),
        *(("seen by", f"{one.code} {one.title}") for one in page.seen_by),
        *([("unseen", page.unseen)] if page.unseen else []),
        *(("nearest", f"{one.code} {one.title}") for one in page.nearest),
    ]
