"""`make docs` updates the output of every command that is shown in full."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.docs.pages import name_of, pages, shown_commands
from tests.docs.session import NOT_RUN, fits, run_all, workplace

ELLIPSIS = "…"


def refresh(page: Path) -> list[str]:
    """Rewrite a page's stale outputs; give the commands whose shortened output needs a hand."""
    shown = shown_commands(page)
    with workplace() as folder:
        printed = run_all([one.command for one in shown], folder, {})
    text, left = page.read_text(encoding="utf-8"), []
    for one, output in zip(shown, printed, strict=True):
        old = one.output or ""
        if one.command.startswith(NOT_RUN) or fits(old, output):
            continue
        if ELLIPSIS in old or old not in text:
            left.append(one.command)
        else:
            text = text.replace(old, output.rstrip("\n"), 1)
    page.write_text(text, encoding="utf-8")
    return left


def main() -> int:
    """Refresh every page whose commands need no storage but the local disk."""
    by_hand = []
    for page in pages():
        shown = shown_commands(page)
        remote = any("s3" in one.command for one in shown) and page.name != "README.md"
        if shown and not remote:
            by_hand += [f"{name_of(page)}: {command}" for command in refresh(page)]
    for line in by_hand:
        sys.stderr.write(f"update by hand: {line}\n")
    return 1 if by_hand else 0


if __name__ == "__main__":
    sys.exit(main())
