"""A slow task that Spark runs a second time elsewhere: both bring rows, one of them counts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.parts.cluster import running_cluster
from tests.parts.door import Door, door_to
from tests.parts.postgres import fresh_database
from tests.spark.sinks.plainreading import Place
from tests.spark.sinks.promises import speculating
from tests.spark.sinks.promises.ownspark import told_by
from tests.spark.sinks.subjects import SUBJECT_BY_NAME

pytestmark = pytest.mark.spark

DATABASES = {
    "postgres-append": "postgresql://postgres@127.0.0.1:{port}{name}",
    "jdbc-append": "jdbc:postgresql://127.0.0.1:{port}{name}?user=postgres",
}
NAMES = (*DATABASES, "parquet-append", "delta-append")


@contextmanager
def patient_door(uri: str) -> Iterator[Door]:
    """Open a door that holds the answer to the slow task's commit until its copy has committed."""
    (folder,) = parse_qs(urlsplit(uri).query)["host"]
    with door_to(f"{folder}/.s.PGSQL.5432") as door:
        door.hold_answer_to(b"COMMIT\0", mark=speculating.MARK.encode())
        yield door


def copied_tasks(events: Path) -> Counter[str]:
    """Count the copies of tasks that Spark started for each sink, from its own log."""
    (log,) = events.iterdir()
    sinks: dict[int, str] = {}
    copies: Counter[str] = Counter()
    for event in map(json.loads, log.read_text(encoding="utf-8").splitlines()):
        if event["Event"] == "SparkListenerJobStart":
            sinks |= dict.fromkeys(event["Stage IDs"], event["Properties"][speculating.SINK])
        elif event["Event"] == "SparkListenerTaskStart" and event["Task Info"]["Speculative"]:
            copies[sinks[event["Stage ID"]]] += 1
    return copies


def test_a_task_and_its_copy_make_one(tmp_path: Path, postgres: str) -> None:
    """In databases both have committed their rows to staging before either of them wins."""
    with ExitStack() as stack:
        databases = {name: fresh_database(postgres) for name in DATABASES}
        doors = {name: stack.enter_context(patient_door(databases[name])) for name in DATABASES}
        places = dict.fromkeys(NAMES, "") | {
            name: address.format(port=doors[name].port, name=urlsplit(databases[name]).path)
            for name, address in DATABASES.items()
        }
        with running_cluster(tmp_path / "cluster") as master:
            told = told_by(speculating, str(tmp_path), master, json.dumps(places))
        assert {name for name in DATABASES if doors[name].paired.is_set()} == set(DATABASES)
    copies = copied_tasks(tmp_path / "events")
    assert {name for name in NAMES if copies[name]} == set(NAMES)
    wanted = Counter((n, str(n) if n else speculating.MARK) for n in range(speculating.ROWS))
    for name, (named, rows) in zip(NAMES, told, strict=True):
        assert (named, rows) in ((name, speculating.ROWS), (name, None))
        subject = SUBJECT_BY_NAME[name]
        place = Place(tmp_path / name, databases.get(name, ""))
        assert subject.reads(place, ("n", "k")) == wanted, name
        assert subject.ledger(place) == [0], name
