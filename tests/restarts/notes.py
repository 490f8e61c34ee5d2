"""Says in words what a run did to the data: files that the sink got again, or never, wrong counts.

An undamaged run of a base would have left every input file in the sink once.
"""

from typing import Any

from tests.restarts.bases import Base


def notes(base: Base, record: dict[str, Any]) -> str:
    """What the rows of the run show, empty where every file reached the sink once."""
    if base.source != "file":
        return ""
    return _counts(base, record) if base.state != "none" else _files(base, record)


def _counts(base: Base, record: dict[str, Any]) -> str:
    if record["action"] == "fail" or not record["batches"]:
        return ""
    wanted = [f"left-{letter} {base.batches + 1}" for letter in "abc"]
    last = record["batches"][-1][1]
    return "" if last == wanted else f"wrong counts: {', '.join(last) or 'no row'}"


def _files(base: Base, record: dict[str, Any]) -> str:
    sides = ("left", "right")[: base.sources]
    done = base.batches - (1 if base.pending else 0)
    before = {(side, number) for side in sides for number in range(done)}
    every = {(side, number) for side in sides for number in range(base.batches + 1)}
    got = [_file(row) for _, rows in record["batches"] for row in rows if "-a " in row]
    again = [file for file in got if file in before]
    never = every - before - set(got) if record["action"] != "fail" else set()
    parts = (("again in the sink", again), ("never in the sink", sorted(never)))
    return "; ".join(f"{what}: {_listed(files)}" for what, files in parts if files)


def _file(row: str) -> tuple[str, int]:
    word, number = row.split(" ")
    return word.split("-")[0], int(number)


def _listed(files: list[tuple[str, int]]) -> str:
    return ", ".join(f"{side}/{number}.txt" for side, number in files)
