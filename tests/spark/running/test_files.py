"""File sinks in real runs: killed in a process of their own, then run again; every row once."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.crashpoints import VARIABLE
from tests.spark.running.processes import call, result_of
from tests.spark.running.projects import Made, expected, ingest
from tests.spark.running.test_s3 import BUCKET, keys, server
from tests.storage.s3server import KEY, SECRET, S3Server

__all__ = ["server"]

pytestmark = pytest.mark.spark


def rows(folder: Path) -> Counter[Any]:
    """Give every row that pyarrow sees, each with how often it is there."""
    import pyarrow.dataset

    if not folder.exists():
        return Counter()
    table = pyarrow.dataset.dataset(folder, format="parquet", partitioning="hive").to_table()
    return Counter((row["n"], row["k"]) for row in table.select(["n", "k"]).to_pylist())


@pytest.mark.whole
@pytest.mark.parametrize("point", ["files.staged:2", "files.published-one:5"])
def test_a_kill_at_a_point_loses_and_doubles_nothing(tmp_path: Path, point: str) -> None:
    """A plain reader sees no row twice in between, and each once at the end."""
    sink = {"format": "parquet", "path": "./lake/raw", "partition_by": ["k"]}
    made = Made(tmp_path, {"ingest": ingest() | {"sink": sink}})
    numbers = made.arrive(3) + made.arrive(3)
    killed = call(tmp_path, "run", "--json", **{VARIABLE: point})
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-500:]
    between = rows(tmp_path / "lake/raw")
    assert between <= expected(numbers)
    assert between.total() == (5 if point == "files.published-one:5" else 3)
    assert len({file.batch_id for file in holdfast.committed_files(tmp_path / "lake/raw")}) == 1
    numbers += made.arrive(2)
    again = result_of(call(tmp_path, "run", "--json"))
    (job,) = again["result"]["jobs"]
    assert (job["ended"], job["first_batch"]) == ("finished", 1)
    assert job["skipped_batches"] == int(point != "files.staged:2")
    assert rows(tmp_path / "lake/raw") == expected(numbers)
    staging = tmp_path / "lake/.holdfast/raw/staging"
    assert [path for path in staging.rglob("*") if path.is_file()] == []
    seen = result_of(call(tmp_path, "evidence", "ingest", "--json"))["result"]["sink"]
    assert seen["value"]["last_committed"] == 2


@pytest.mark.whole
def test_a_kill_while_a_batch_is_published_on_s3(tmp_path: Path, server: S3Server) -> None:
    """Copied, not renamed: the files of the batch are all there once after the next run."""
    storage = {
        "s3": {
            "endpoint": server.endpoint, "key": KEY, "secret": SECRET,
            "region": "us-east-1", "path_style": True,
        }
    }  # fmt: skip
    sink = {"format": "json", "path": f"s3a://{BUCKET}/files", "partition_by": ["k"]}
    made = Made(tmp_path, {"ingest": ingest() | {"sink": sink}}, storage=storage)
    numbers = made.arrive(3) + made.arrive(3)
    killed = call(tmp_path, "run", "--json", **{VARIABLE: "files.published-one:5"})
    assert killed.returncode == -signal.SIGKILL, killed.stderr[-800:]
    # Files are copied side by side: another one may have been on its way.
    assert len(keys(server, "files")) in (5, 6)
    numbers += made.arrive(2)
    (job,) = result_of(call(tmp_path, "run", "--json"))["result"]["jobs"]
    assert (job["ended"], job["skipped_batches"]) == ("finished", 1)
    names = keys(server, "files")
    found = [server.client.get_object(Bucket=BUCKET, Key=f"files/{name}")["Body"] for name in names]
    lines = [line for body in found for line in body.read().decode().splitlines()]
    assert Counter(lines) == Counter(f'{{"n":{number}}}' for number in numbers)
    files = holdfast.committed_files(f"s3a://{BUCKET}/files", server.settings())
    assert sorted(file.path for file in files) == [f"s3://{BUCKET}/files/{name}" for name in names]
    assert not [one for one in keys(server, ".holdfast") if "/staging/" in one]
