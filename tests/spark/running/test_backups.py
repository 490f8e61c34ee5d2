"""Backups that are taken while a stream runs: each is one moment, and rows come out of it once."""

from __future__ import annotations

import importlib.util
import shutil
import time
from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

import holdfast
from holdfast.backup.results import BackupReport, BackupSummary
from tests.spark.running.processes import started, wait_for
from tests.spark.running.projects import ROWS, Made
from tests.spark.running.shapes import SHAPES, project, rows

pytestmark = pytest.mark.spark

SINK, SHAPE = "delta-append", "within-changelog"
PER_FILE = 4


def streaming(folder: Path) -> Made:
    """Make a project whose job runs until it is stopped, and is backed up every second."""
    made = project(folder, SHAPE, SINK)
    document = yaml.safe_load(made.file.read_text(encoding="utf-8"))
    document["jobs"]["job"] |= {
        "trigger": {"processing_time": "0 seconds"},
        "backup": {"every": "1 second", "keep": 100},
    }
    made.file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")
    return made


def groups(first: int, end: int) -> Counter[Any]:
    """Return what these numbers add to the output, where all before them were there."""
    before = {number - number % 3 for number in range(first)}
    return Counter(
        {(n - n % 3, "group") for n in range(first, end)} - {(n, "group") for n in before}
    )


def is_planned(made: Made, batch: int) -> bool:
    """Tell whether a batch was begun."""
    return batch in made.ids("job", "offsets")


def backups(made: Made) -> tuple[BackupSummary, ...]:
    """List what the store holds."""
    (place,) = holdfast.list_backups("job", project=made.file).result.places
    return place.backups


def test_each_starts_and_the_newest_is_restored_and_replayed(spark: Any, tmp_path: Path) -> None:
    """The run backs up between batches, and another process at any moment; then all is lost."""
    made = streaming(tmp_path / "made")
    with started(made.folder, "run", "--json"):
        for batch in range(6):
            made.arrive(PER_FILE)
            # In the middle of a batch, mostly.
            wait_for(partial(is_planned, made, batch), "the batch")
            backed_up(made)
        wait_for(lambda: 5 in made.ids("job", "commits"), "the last batch")
        last = backed_up(made).backups[0]
        assert (last.last_committed, last.mismatched) == (5, ())
        all_of_them = backups(made)
        assert len(all_of_them) > 7, "the run itself made some"
    for one in all_of_them:
        start_from(spark, made, one, tmp_path / one.id.replace(":", ""))
    assert not holdfast.back_up("job", verify=True, project=made.file).result.damaged
    shutil.rmtree(made.checkpoint("job"))
    holdfast.restore(f"job@{last.id}", even_if_running=True, project=made.file)
    until_done(made)
    for batch in (4, 1):
        plan = holdfast.plan("job", "replay", {"from_batch": batch}, project=made.file).result
        holdfast.apply(plan, even_if_running=True, project=made.file)
        assert rows(spark, made, SINK) == groups(0, batch * PER_FILE)
        assert holdfast.run(project=made.file).exit_status == 0
        assert rows(spark, made, SINK) == groups(0, made._number)
    made.arrive(PER_FILE)
    assert holdfast.run(project=made.file).exit_status == 0
    assert rows(spark, made, SINK) == groups(0, made._number)


def backed_up(made: Made) -> BackupReport:
    """Back up as soon as the run itself does not."""
    while True:
        try:
            return holdfast.back_up("job", project=made.file).result
        except holdfast.HoldfastError as error:
            assert error.code == "HF4507"
            time.sleep(0.2)


def until_done(made: Made) -> None:
    """Let the job end once nothing is left to read."""
    document = yaml.safe_load(made.file.read_text(encoding="utf-8"))
    del document["jobs"]["job"]["trigger"]
    made.file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def start_from(spark: Any, made: Made, backup: BackupSummary, place: Path) -> None:
    """Restore beside; demand that plain Spark makes every row there that came after the backup."""
    holdfast.restore(f"job@{backup.id}", to=place, project=made.file)
    seen: Counter[Any] = Counter()
    session = spark.newSession()
    for key, value in {**SHAPES[SHAPE].conf, "spark.sql.shuffle.partitions": "2"}.items():
        session.conf.set(key, value)
    source = session.readStream.schema(ROWS).option("maxFilesPerTrigger", 1)
    frame = transform(made)(source.json(str(made.folder / "in")))
    query = (
        frame.writeStream.foreachBatch(lambda batch, _: seen.update(map(tuple, batch.collect())))
        .option("checkpointLocation", str(place)).trigger(availableNow=True).start()
    )  # fmt: skip
    query.awaitTermination()
    committed = -1 if backup.last_committed is None else backup.last_committed
    assert seen == groups((committed + 1) * PER_FILE, made._number), backup


def transform(made: Made) -> Any:
    """Load the function that the job runs."""
    spec = importlib.util.spec_from_file_location("shapes_of_backups", made.folder / "shapes.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, SHAPES[SHAPE].query)
