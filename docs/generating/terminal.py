"""The picture of a terminal in the README: real commands on a copy of demo/orders, as an SVG."""

from __future__ import annotations

import html
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.text import Text

REPOSITORY = Path(__file__).resolve().parents[2]
PICTURE = REPOSITORY / "docs" / "images" / "terminal.svg"
COMMANDS = (
    "holdfast inspect demo/orders | head -11",
    "rm demo/orders/offsets/4",
    "holdfast doctor demo/orders --only HF2204",
)
WIDTH = 80
_TEXT = re.compile(r"<text class=\"holdfast-r\d+\"[^>]* y=\"(?P<y>[\d.]+)\"[^>]*>(?P<text>[^<]*)<")


def terminal_svg() -> str:
    """Run the commands and return what the terminal shows, as an SVG."""
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True)
    for number, (command, output) in enumerate(session()):
        if number:
            console.print()
        console.print(Text.assemble(("$ ", "bold green"), command))
        if output:
            console.print(Text.from_ansi(output))
    return console.export_svg(title="holdfast", unique_id="holdfast")


def session() -> list[tuple[str, str]]:
    """Return each command and its output, with colour."""
    with tempfile.TemporaryDirectory(prefix="h") as name:
        folder = Path(name).resolve()
        shutil.copytree(REPOSITORY / "demo", folder / "demo")
        return [(command, _output(command, folder)) for command in COMMANDS]


def _output(command: str, folder: Path) -> str:
    shell = f'holdfast() {{ "{sys.executable}" -m holdfast "$@"; }}; {command}'
    unset = ("NO_COLOR", "HOLDFAST_PROFILE")
    kept = {key: value for key, value in os.environ.items() if key not in unset}
    done = subprocess.run(
        ["bash", "-c", shell],
        cwd=folder,
        env={**kept, "FORCE_COLOR": "1", "COLUMNS": str(WIDTH), "PYTHONUTF8": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
    )
    return done.stdout.decode().replace(f"{folder}/", "").rstrip("\n")


def words_shown(svg: str) -> list[str]:
    """Return the words in a picture, in order; they do not depend on the version of rich."""
    lines: dict[float, list[str]] = {}
    for found in _TEXT.finditer(svg):
        lines.setdefault(float(found["y"]), []).append(html.unescape(found["text"]))
    return " ".join("".join(parts) for _, parts in sorted(lines.items())).split()


def is_stale() -> bool:
    """Return whether the stored picture differs from what the commands print now."""
    if not PICTURE.exists():
        return True
    return words_shown(PICTURE.read_text(encoding="utf-8")) != words_shown(terminal_svg())


def write_picture() -> None:
    """Write the picture, unless it is current."""
    if is_stale():
        PICTURE.parent.mkdir(parents=True, exist_ok=True)
        PICTURE.write_text(terminal_svg(), encoding="utf-8")
