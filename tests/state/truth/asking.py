"""Asks the Spark of this environment for the older batches of all samples that it wrote itself."""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from pathlib import Path
from typing import Any

import pyspark
from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame
from pyspark.sql import functions as f

from tests.corpus.facts import number_repeats
from tests.corpus.loading import Sample, corpus
from tests.corpus.session import SETTINGS, WORKSHOP, start_session
from tests.state.truth.digests import (
    digest,
    load_digests,
    older_batches,
    save_digests,
    store_name,
)

Answers = dict[int, str]
ERROR_CLASS = re.compile(r"\[[A-Z0-9_.]+\]")


def main() -> int:
    """Ask for all samples, or for some, and keep the digests of what Spark says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", action="append", default=[])
    names = parser.parse_args().only
    wanted = [one for one in corpus() if one.spark == pyspark.__version__ and one.facts["state"]]
    WORKSHOP.mkdir(exist_ok=True)
    spark = start_session({"spark.sql.streaming.stateStore.maintenanceInterval": "1h"})
    # Spark 4.1 and 4.2 read no state before something in the session has asked for its queries.
    assert not spark.streams.active
    for sample in wanted:
        if not names or sample.name in names:
            save_digests({**load_digests(), str(sample): ask(spark, sample)})
            sys.stderr.write(f"{sample}\n")
    spark.stop()
    return 0


def ask(spark: Any, sample: Sample) -> dict[str, dict[str, str]]:
    """Tell the digests of every store at every older batch."""
    found = {}
    batches = older_batches(sample)
    # Where it was written: an operator's metadata names its schema files by their whole paths.
    folder = WORKSHOP / sample.name
    shutil.rmtree(folder, ignore_errors=True)
    checkpoint = sample.extract(folder)
    with settings(spark, sample):
        for told in sample.facts["state"] if batches else ():
            options = {name: told[name] for name in told if name not in ("rows", "refusal")}
            answers = ask_store(spark, checkpoint, options, batches)
            found[store_name(told)] = {str(batch): text for batch, text in answers.items()}
    shutil.rmtree(folder)
    return found


@contextmanager
def settings(spark: Any, sample: Sample) -> Iterator[None]:
    """Hold to what the sample was written with: unless told, Spark takes checkpoint format 1."""
    own = {name: text for name, text in sample.facts["settings"].items() if name not in SETTINGS}
    for name, text in own.items():
        spark.conf.set(name, text)
    try:
        yield
    finally:
        for name in own:
            spark.conf.unset(name)


def ask_store(spark: Any, checkpoint: Path, options: dict[str, str], batches: list[int]) -> Answers:
    """Ask for all batches in one job; where Spark refuses one of them, for each by itself."""
    try:
        return read(spark, checkpoint, options, batches)
    except (PySparkException, Py4JError) as refusal:
        if len(batches) == 1:
            named = ERROR_CLASS.search(str(refusal))
            return {batches[0]: f"refused: {named[0] if named else type(refusal).__name__}"}
    answers: Answers = {}
    for batch in batches:
        answers |= ask_store(spark, checkpoint, options, [batch])
    return answers


def read(spark: Any, checkpoint: Path, options: dict[str, str], batches: list[int]) -> Answers:
    """Read a store at several batches, and tell the digest of each."""
    frames = [frame_of(spark, checkpoint, options, batch) for batch in batches]
    rows: dict[int, list[dict[str, Any]]] = {batch: [] for batch in batches}
    for item in reduce(DataFrame.union, frames).collect():
        row = json.loads(item["row"], object_pairs_hook=number_repeats)
        rows[item["batch"]].append(row)
    return {batch: digest(found) for batch, found in rows.items()}


def frame_of(spark: Any, checkpoint: Path, options: dict[str, str], batch: int) -> DataFrame:
    """Tell the rows of a batch as text."""
    reader = spark.read.format("statestore").options(**options, batchId=str(batch))
    text = f.to_json(f.struct("*"), {"ignoreNullFields": "false"})
    frame: DataFrame = reader.load(str(checkpoint)).select(
        f.lit(batch).alias("batch"), text.alias("row")
    )
    return frame


if __name__ == "__main__":
    sys.exit(main())
