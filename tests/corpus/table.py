"""Prints the table of README.md: every shape, the Spark versions it exists for, its size."""

from __future__ import annotations

import json
from pathlib import Path

ARCHIVES = Path(__file__).resolve().parent / "checkpoints"


def main() -> None:
    """Prints the table and the totals."""
    archives = sorted(ARCHIVES.glob("*/*.zip"))
    versions = sorted({path.parent.name for path in archives})
    print(f"| shape | what | {' | '.join(versions)} | bytes |")
    print(f"|---|---|{'---|' * len(versions)}---:|")
    for name in sorted({path.stem for path in archives}):
        print(line(name, [path for path in archives if path.stem == name], versions))
    facts = sum(path.with_suffix(".json").stat().st_size for path in archives)
    packed = sum(path.stat().st_size for path in archives)
    print(f"\n{len(archives)} archives, {packed:,} bytes; their facts files {facts:,} bytes.")


def line(name: str, paths: list[Path], versions: list[str]) -> str:
    """Returns one row of the table."""
    made = {path.parent.name for path in paths}
    marks = " | ".join("x" if version in made else "" for version in versions)
    facts = json.loads(paths[-1].with_suffix(".json").read_text(encoding="utf-8"))
    size = sum(path.stat().st_size for path in paths)
    return f"| {name} | {facts['description']} | {marks} | {size:,} |"


if __name__ == "__main__":
    main()
