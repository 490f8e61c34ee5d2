"""Plays field cases and records what came of them: `python -m tests.fieldcases.play`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.fieldcases.play.loading import RECORD
from tests.fieldcases.play.record import play_all


def main() -> None:
    """Parse what is to be played, and play it."""
    parser = argparse.ArgumentParser(prog="python -m tests.fieldcases.play")
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these plays")
    parser.add_argument("--case", type=int, action="append", default=[], help="only this case")
    parser.add_argument("--missing", action="store_true", help="only what is not right yet")
    parser.add_argument("--record", type=Path, default=RECORD, help="the file of the records")
    given = parser.parse_args()
    right = play_all(set(given.case), set(given.names), missing=given.missing,
                     record=given.record)  # fmt: skip
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
