"""Without Java: inspects a sample checkpoint, damages copies of it, and shows what that changes."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

import holdfast
from holdfast import Answer, Inspection
from holdfast.checkpoint.recovery.outcome import NextStart
from holdfast.cli.main import run

SAMPLE = Path(__file__).resolve().parent / "orders"
WIDTH = 80
SHOWN_FINDINGS = 2

Damage = Callable[[Path], None]


def lose_newest_offsets(checkpoint: Path) -> None:
    """Remove the two newest offsets entries, each with its checksum; the commit of one stays."""
    for name in ("offsets/4", "offsets/.4.crc", "offsets/5", "offsets/.5.crc"):
        (checkpoint / name).unlink()


def cut_newest_offsets(checkpoint: Path) -> None:
    """Cut the newest offsets entry in its middle, as a full disk does."""
    entry = checkpoint / "offsets/5"
    entry.write_bytes(entry.read_bytes()[:500])


def tidy_up_metadata(checkpoint: Path) -> None:
    """Remove the small file that looks as if nobody needed it."""
    for name in ("metadata", ".metadata.crc"):
        (checkpoint / name).unlink()


@dataclass(frozen=True)
class Accident:
    """One thing that people or machines do to checkpoints, and what it is told as."""

    story: str
    damage: Damage


ACCIDENTS = (
    Accident(
        "A clean-up script removes the newest files of offsets/, and leaves commits/ alone.",
        lose_newest_offsets,
    ),
    Accident(
        "The disk is full while offsets/5 is written: the file ends in the middle.",
        cut_newest_offsets,
    ),
    Accident(
        "Somebody tidies up: 45 bytes called `metadata`, which nothing seems to use.",
        tidy_up_metadata,
    ),
)


def digest(folder: Path) -> str:
    """Give one SHA-256 over the name and the bytes of every file below a folder."""
    total = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            total.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return total.hexdigest()


def show_accident(number: int, accident: Accident, healthy: NextStart, console: Console) -> bool:
    """Damage a fresh copy, inspect it and show what changed; tell whether it was left alone."""
    _headline(f"Accident {number}", console)
    console.print(accident.story)
    with tempfile.TemporaryDirectory(prefix="holdfast-demo-") as folder:
        copy = Path(folder) / "orders"
        shutil.copytree(SAMPLE, copy)
        accident.damage(copy)
        before = digest(copy)
        show_change(healthy, holdfast.inspect(copy), console)
        return digest(copy) == before


def show_change(healthy: NextStart, answer: Answer[Inspection], console: Console) -> None:
    """Show the next start, before and now, and the worst findings."""
    start = answer.result.next_start
    rows = Table.grid(padding=(0, 2))
    rows.add_row("before", f"{healthy.action.value} of batch {healthy.batch_id}")
    rows.add_row("now", f"{start.action.value}: {start.reason}")
    if start.sink_touched:
        rows.add_row("", f"Batch {start.batch_id} is written to the sink before that.")
    if start.differs:
        releases = ", ".join(other.spark for other in start.differs)
        rows.add_row("but", f"{start.differs[0].action.value} with Spark {releases}")
    for finding in answer.findings[:SHOWN_FINDINGS]:
        rows.add_row(finding.severity.value, f"{finding.code} {finding.message}")
    worst = answer.findings[0]
    rows.add_row("why", worst.why)
    rows.add_row("next", worst.next_steps[0])
    console.print(Padding(rows, (1, 0, 1, 2)))


def _headline(title: str, console: Console) -> None:
    console.rule(Text(title, "bold"), align="left", characters="─")


def main() -> int:
    """Run the demo; 0 when nothing that was inspected changed by a single byte."""
    console = Console(width=WIDTH, highlight=False, markup=False)
    before = digest(SAMPLE)
    sample = os.path.relpath(SAMPLE)
    console.print("\nThis is a real checkpoint: takings of shops by windows of ten minutes.")
    console.print("Its last batch reached the sink; then the database went away.\n")
    console.print(Text(f"$ holdfast inspect {sample}", "bold"))
    run(["inspect", sample])
    console.print("\nNow three accidents, each on a fresh copy.\n")
    healthy = holdfast.inspect(sample).result.next_start
    untouched = [show_accident(at, one, healthy, console) for at, one in enumerate(ACCIDENTS, 1)]
    _headline("What inspecting wrote", console)
    same = digest(SAMPLE) == before and all(untouched)
    console.print(f"SHA-256 of demo/orders before  {before[:32]}…")
    console.print(f"SHA-256 of demo/orders after   {digest(SAMPLE)[:32]}…")
    console.print("Nothing, neither to the sample nor to a copy." if same else "Something changed!")
    console.print("\nNext: docs/tutorial/first-look.md, or `.venv/bin/holdfast inspect <yours>`.\n")
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
