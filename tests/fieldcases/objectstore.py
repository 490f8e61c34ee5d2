"""Case 92: a checkpoint on S3, and the calls that a small batch makes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from tests.fieldcases.bench import CaseBench
from tests.fieldcases.case import Starts, case
from tests.fieldcases.queries import COUNTS
from tests.storage.s3server import KEY, SECRET, S3Server

BUCKET = "lake"
CHECKPOINT = f"s3a://{BUCKET}/checkpoint"
MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
ABORTABLE = "org.apache.spark.internal.io.cloud.AbortableStreamBasedCheckpointFileManager"


@contextmanager
def running_store(bench: CaseBench) -> Iterator[S3Server]:
    """Run an S3 server, and let the session's file systems find it."""
    server = S3Server()
    server.fill(BUCKET, {})
    hadoop = bench.spark.sparkContext._jsc.hadoopConfiguration()
    settings = {"endpoint": server.endpoint, "access.key": KEY, "secret.key": SECRET}
    settings |= {"endpoint.region": "us-east-1", "path.style.access": "true"}
    for name, value in settings.items():
        hadoop.set(f"fs.s3a.{name}", value)
    try:
        yield server
    finally:
        server.stop()


@case(92, "the checkpoint of an aggregation is on S3", needs="s3")
def checkpoint_on_s3(bench: CaseBench) -> Starts:
    store = running_store(bench)
    server, bench.held = store.__enter__(), store
    storage = {"s3": {"endpoint": server.endpoint, "key": KEY, "secret": SECRET,
                      "region": "us-east-1", "path_style": True}}  # fmt: skip

    def run(number: int) -> int:
        """Run one batch; return how many requests were sent."""
        bench.orders(number, expect=False)
        server.requests.clear()
        bench.view()
        bench.totals(bench.sql(COUNTS), checkpoint=CHECKPOINT)
        bench.expected.clear()
        bench.expected.update({f"{user} {number + 1}": 1 for user in ("u1", "u2")})
        return len(server.requests)

    run(0)
    bench.declare(sql=COUNTS, output_mode="update", checkpoint=CHECKPOINT, storage=storage)
    bench.examine()

    def start() -> None:
        plain = run(1)
        bench.spark.conf.set(MANAGER, ABORTABLE)
        try:
            fewer = run(2)
        finally:
            bench.spark.conf.unset(MANAGER)
        bench.note = f"{plain} requests for a batch of 2 rows, {fewer} with {ABORTABLE}"

    return start, None
