"""Move to S3 on real Spark, run there, and move back: every row once, none of any state lost."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.backup.folders import tree_of
from tests.spark.running.processes import call, result_of
from tests.spark.running.projects import Made
from tests.spark.running.shapes import project, rows
from tests.storage.s3server import KEY, SECRET, S3Server

pytestmark = pytest.mark.spark

BUCKET = "lake"
SINK = "parquet-append"


@pytest.fixture
def server() -> Iterator[S3Server]:
    """Run an S3 server with an empty bucket."""
    running = S3Server()
    running.fill(BUCKET, {})
    yield running
    running.stop()


def storing(made: Made, server: S3Server) -> None:
    """Let the project know the server."""
    document = yaml.safe_load(made.file.read_text(encoding="utf-8"))
    s3 = {"endpoint": server.endpoint, "key": KEY, "secret": SECRET, "region": "us-east-1"}
    document["storage"] = {"s3": {**s3, "path_style": True}}
    made.file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def declare(made: Made, checkpoint: str) -> None:
    """Change where the project says that the checkpoint is."""
    document = yaml.safe_load(made.file.read_text(encoding="utf-8"))
    document["jobs"]["job"]["checkpoint"] = checkpoint
    made.file.write_text(yaml.safe_dump(document, sort_keys=False), encoding="utf-8")


def done(made: Made, *words: str) -> dict[str, Any]:
    """Run a command that ends well; return the document that it prints."""
    ended = call(made.folder, *words, "--json")
    assert ended.returncode == 0, ended.stderr[-800:] + ended.stdout[-800:]
    assert SECRET not in ended.stdout + ended.stderr
    return result_of(ended)


def move(made: Made, to: str) -> None:
    """Plan a move, apply it, and declare the new place."""
    done(made, "plan", "move", "job", "--to", to, "-o", "plan.json")
    done(made, "apply", "plan.json", "--yes", "--even-if-running")
    (made.folder / "plan.json").unlink()
    declare(made, to)


def distinct(count: int) -> Counter[Any]:
    """Return the rows of so many numbers: one for every three of them."""
    return Counter((one, "group") for one in range(0, count, 3))


@pytest.mark.whole
def test_a_job_goes_on_on_s3_and_comes_back(tmp_path: Path, server: S3Server) -> None:
    """A row that came before each move would be there twice if its state had not come along."""
    made = project(tmp_path / "made", "distinct", SINK)
    storing(made, server)
    made.arrive(4)
    done(made, "run")
    assert rows(None, made, SINK) == distinct(4)
    old = made.checkpoint("job")
    query = json.loads((old / "metadata").read_text(encoding="utf-8"))["id"]

    move(made, f"s3a://{BUCKET}/moved/job")
    left = tree_of(old)
    made.arrive(4)
    (report,) = done(made, "run")["result"]["jobs"]
    assert (report["first_batch"], report["rows"]) == (1, 4)
    assert rows(None, made, SINK) == distinct(8)
    assert tree_of(old) == left
    key = "moved/job/metadata"
    there = server.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    assert json.loads(there)["id"] == query

    back = tmp_path / "made/back/job"
    move(made, str(back))
    closed = server.client.get_object(Bucket=BUCKET, Key=key)["Body"].read()
    assert str(back).encode() in closed
    with pytest.raises(ValueError, match="Expecting value"):
        json.loads(closed)
    made.arrive(6)
    (report,) = done(made, "run")["result"]["jobs"]
    assert (report["first_batch"], report["rows"]) == (2, 6)
    assert rows(None, made, SINK) == distinct(14)
    assert json.loads((back / "metadata").read_text(encoding="utf-8"))["id"] == query
    found = done(made, "doctor", "job")["findings"]
    assert [one for one in found if one["severity"] != "info"] == []
