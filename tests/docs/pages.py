"""Every page that people read, cut into its fenced blocks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
_SHELLS = ("console", "bash")


@dataclass(frozen=True)
class Shown:
    """One command that a page shows, and the output below it (None where none is shown)."""

    command: str
    output: str | None


def pages() -> list[Path]:
    """Give every page in Markdown, generated ones as well."""
    at_root = sorted(REPOSITORY.glob("*.md"))
    return [*at_root, *sorted((REPOSITORY / "docs").rglob("*.md"))]


def name_of(page: Path) -> str:
    """Name a page as people do."""
    return page.relative_to(REPOSITORY).as_posix()


def blocks(page: Path, *languages: str) -> list[str]:
    """Give the text of the page's fenced blocks of these languages."""
    found = _FENCE.finditer(page.read_text(encoding="utf-8"))
    return [one["text"] for one in found if one["language"] in languages]


def shown_commands(page: Path) -> list[Shown]:
    """Give every line that begins with `$ `, in order, with the output that follows it."""
    return [one for text in blocks(page, *_SHELLS) for one in _commands(text)]


def _commands(text: str) -> list[Shown]:
    found: list[Shown] = []
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        command, _, output = part.partition("\n")
        found.append(Shown(command, output.rstrip("\n") or None))
    return found
