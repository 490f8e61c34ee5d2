"""Our binary COPY against ADBC's driver for PostgreSQL, which takes Arrow batches as well."""

from __future__ import annotations

import json
import statistics
import sys

import psycopg

from benchmarks.copy_rows import TABLE, WAYS, columns_of_table
from benchmarks.figures import Figure, Subject, Workshop, say
from benchmarks.measuring import run_cold
from tests.parts.postgres import server_on_a_port

ROWS, ROUNDS = 1_000_000, 3


def measure(_workshop: Workshop) -> list[Figure]:
    """Measure both ways in turns."""
    took: dict[str, list[tuple[float, float]]] = {way: [] for way in WAYS}
    with server_on_a_port() as server:
        for turn in range(ROUNDS):
            say(f"copying {ROWS:,} rows both ways, round {turn + 1} of {ROUNDS}")
            for way in WAYS:
                took[way].append(_copied(way, server))
    (wall, work), (their_wall, their_work) = (_middle(took[way]) for way in ("ours", "adbc"))
    return [
        Figure(
            "binary COPY of Holdfast against ADBC's driver, processor time of the client",
            f"{their_work / work:.1f} times as fast ({work:.2f} s against {their_work:.2f} s)",
            "at least 1 times",
            their_work >= work,
        ),
        Figure(
            "the same until the transaction is committed",
            f"{their_wall / wall:.1f} times as fast ({wall:.1f} s against {their_wall:.1f} s)",
            "at least 1 times",
            their_wall >= wall,
        ),
    ]


def _copied(way: str, server: str) -> tuple[float, float]:
    with psycopg.connect(f"postgresql://{server}", autocommit=True) as connection:
        connection.execute(f"drop table if exists {TABLE}")
        connection.execute(f"create unlogged table {TABLE} ({columns_of_table()})")
    words = [sys.executable, "-m", "benchmarks.copy_rows", way, str(ROWS), server]
    seconds, processor = json.loads(run_cold(words).output.splitlines()[-1])
    return seconds, processor


def _middle(runs: list[tuple[float, float]]) -> tuple[float, float]:
    return statistics.median(one for one, _ in runs), statistics.median(one for _, one in runs)


SUBJECT = Subject(
    "Copying rows to PostgreSQL",
    f"{ROWS:,} rows of nine columns (numbers, text, a moment, a date, a decimal, an array of "
    "texts) from Arrow batches of 10,000 into an unlogged table in one transaction, by "
    "`spark/sinks/database/dialects/postgres/copyrows.py` and by `adbc-driver-postgresql`, each "
    "in a process of its own, in turns, medians of three. Both store the same values, with NaN, "
    "infinity, decimals, early and late moments, dates and arrays with nulls in them. Holdfast "
    "keeps its own because it is faster, and because of three differences: ADBC sends text to a "
    "`jsonb` column without the version byte of the binary format, which PostgreSQL refuses; a "
    "moment outside of PostgreSQL's range ends with `Error occurred writing COPY data`, which "
    "does not name the column; and a character NUL ends with an encoding error, where Holdfast "
    "counts such values in each column.",
    measure,
)
