"""Every project file that a page shows is one: it is read without an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.jobs.discovery import load_project
from tests.docs.pages import blocks, name_of, pages

SHOWN = [
    (page, text) for page in pages() for text in blocks(page, "yaml") if "\njobs:\n" in f"\n{text}"
]


@pytest.mark.parametrize(("page", "text"), SHOWN, ids=[name_of(page) for page, _ in SHOWN])
def test_it_is_read(page: Path, text: str, tmp_path: Path) -> None:
    whole = text if text.startswith("project:") else f"project: shop\n{text}"
    (tmp_path / "holdfast.yaml").write_text(whole, encoding="utf-8")
    assert load_project(tmp_path / "holdfast.yaml").jobs


def test_the_guide_to_declaring_is_among_them() -> None:
    assert "docs/how-to/declare-jobs.md" in {name_of(page) for page, _ in SHOWN}
