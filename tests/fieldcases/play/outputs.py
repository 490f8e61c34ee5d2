"""Reads the rows of a sink as its plain readers do."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any


def rows_of(spark: Any, folder: Path, sink: dict[str, Any]) -> Counter[tuple[Any, ...]]:
    """Return the rows of a declared sink, each with how often it is there."""
    form = sink["format"]
    if form == "postgres":
        import psycopg

        with psycopg.connect(sink["url"]) as connection:
            return Counter(connection.execute(f"select n, k from {sink['table']}").fetchall())
    if form == "custom":
        lines = (folder / "delivered.json").read_text(encoding="utf-8").splitlines()
        return Counter((one["n"], one["k"]) for one in map(json.loads, lines))
    place = folder / sink["path"]
    if form == "delta":
        found = spark.read.format("delta").load(str(place)).select("n", "k").collect()
        return Counter(tuple(row) for row in found)
    if sink.get("native"):
        found = spark.read.schema("n long, k string").format(form).load(str(place)).collect()
        return Counter(tuple(row) for row in found)
    from pyarrow import dataset

    found = dataset.dataset(str(place), format=form).to_table(columns=["n", "k"]).to_pylist()
    return Counter((row["n"], row["k"]) for row in found)
