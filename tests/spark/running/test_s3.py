"""Checkpoint, records, lease and table on S3: killed and started again, every row is there once."""

from __future__ import annotations

import json
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.crashpoints import VARIABLE
from tests.spark.running.processes import call, result_of, started, wait_for
from tests.spark.running.projects import Made, ingest
from tests.storage.s3server import KEY, SECRET, S3Server

pytestmark = pytest.mark.spark

BUCKET = "lake"
CHECKPOINT = "checkpoints/ingest"


@pytest.fixture
def server() -> Iterator[S3Server]:
    """Run an S3 server with an empty bucket."""
    running = S3Server()
    running.fill(BUCKET, {})
    yield running
    running.stop()


def keys(server: S3Server, prefix: str) -> list[str]:
    """Name what is in the bucket below a prefix, without Hadoop's markers of folders."""
    held = server.client.list_objects_v2(Bucket=BUCKET, Prefix=f"{prefix}/").get("Contents", [])
    names = [item["Key"].removeprefix(f"{prefix}/") for item in held]
    return sorted(name for name in names if name and not name.endswith("/"))


def rows_in_table(server: S3Server) -> Counter[int]:
    """Count the rows of every batch by what the table's own log says of its files."""
    counted: Counter[int] = Counter()
    for name in keys(server, "raw/_delta_log"):
        if name.endswith(".json"):
            body = server.client.get_object(Bucket=BUCKET, Key=f"raw/_delta_log/{name}")["Body"]
            actions = [json.loads(line) for line in body.read().decode().splitlines()]
            batch = next((one["txn"]["version"] for one in actions if "txn" in one), -1)
            for one in actions:
                if "add" in one:
                    counted[batch] += json.loads(one["add"]["stats"])["numRecords"]
    return counted


def test_a_kill_and_a_second_driver_on_s3(tmp_path: Path, server: S3Server) -> None:
    """The lease is an object that is created once; so is every version of the table."""
    sink: dict[str, Any] = {"format": "delta", "path": f"s3a://{BUCKET}/raw"}
    storage = {
        "s3": {
            "endpoint": server.endpoint, "key": KEY, "secret": SECRET,
            "region": "us-east-1", "path_style": True,
        }
    }  # fmt: skip
    made = Made(
        tmp_path,
        {"ingest": ingest() | {"sink": sink}},
        checkpoints=f"s3a://{BUCKET}/checkpoints",
        storage=storage,
    )
    made.arrive(3)
    killed = call(tmp_path, "run", "--json", **{VARIABLE: "sink.after-commit"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-800:] + killed.stdout[-800:]
    assert keys(server, f"{CHECKPOINT}/offsets") == ["0"]
    assert keys(server, f"{CHECKPOINT}/commits") == []
    assert rows_in_table(server) == {0: 3}

    made.arrive(2)
    with started(tmp_path, "run", "--json") as process:
        wait_for(lambda: len(keys(server, "checkpoints/.holdfast/ingest/lease")) > 2, "the lease")
        second = call(tmp_path, "run", "--json")
        printed, _ = process.communicate(timeout=240)
    assert second.returncode == 22
    assert result_of(second)["findings"][0]["code"] == "HF2601"
    (job,) = json.loads(printed)["result"]["jobs"]
    assert (job["ended"], job["first_batch"], job["skipped_batches"]) == ("finished", 0, 1)
    assert rows_in_table(server) == {0: 3, 1: 2}
    assert SECRET not in printed + second.stdout + killed.stderr
