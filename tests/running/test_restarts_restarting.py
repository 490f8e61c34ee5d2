"""Which failures pass by themselves: a test for every row of the one table."""

from __future__ import annotations

import re

import pytest

from holdfast.errors import HoldfastError, RunError, SinkError, SourceError, StorageError
from holdfast.jobs.ready import RestartPolicy
from holdfast.running.restarts import REASONS, backoff_seconds, passes, reason_of
from tests.diagnosis.explain.pages.test_catalogue_matching import TRACES
from tests.docs.pages import REPOSITORY

KAFKA = "org.apache.kafka.common.errors"
S3 = "com.amazonaws.services.s3.model.AmazonS3Exception"


def spark(trace: str) -> RunError:
    """Give what a job raises that Spark stopped."""
    return RunError("HF5302", "orders: Spark stopped: something", trace=f"Caused by: {trace}\n")


def coded(*codes: str, message: str = "it broke") -> tuple[HoldfastError, ...]:
    return tuple(HoldfastError(code, message) for code in codes)


ROWS: dict[str, tuple[HoldfastError, ...]] = {
    "refused: project, checkpoint, lease or guard": coded(
        "HF1104", "HF1114", "HF2001", "HF2601", "HF2602", "HF3005", "HF3013", "HF4506"
    ),
    "the user's code": (
        RunError("HF5301", "failed in your code", trace=f"{KAFKA}.TimeoutException: no"),
        *coded("HF5112", "HF5115"),
    ),
    "Spark's JVM ended": coded("HF5304", "HF5305", "HF5306"),
    "Spark could not be started again": coded("HF5213"),
    "PostgreSQL rejects the login": (
        *coded("HF5041", message='FATAL: password authentication failed for user "etl"'),
        *coded("HF5041", message='FATAL: database "gold" does not exist'),
    ),
    "the database is unreachable": (
        *coded("HF5041", message="connection refused"),
        *coded("HF5071", message="Connection is broken"),
    ),
    "conflict with other writers": coded("HF5010"),
    "the database lost the staged rows": coded("HF5045", "HF5073"),
    "the storage is unreachable, slow or throttled": coded("HF7007", "HF7011", "HF7012"),
    "access was denied": (
        spark(f"{KAFKA}.SaslAuthenticationException: Authentication failed"),
        spark(f"{KAFKA}.TopicAuthorizationException: Not authorized"),
        spark(f"java.nio.file.AccessDeniedException: s3a://lake: {S3}: (Status Code: 403)"),
        SourceError("HF5107", "source: it cannot be read: /in: Permission denied"),
        # An S3 client reports a rejected key inside of an error that it also uses for the network.
        spark(f"org.apache.hadoop.fs.s3a.AWSClientIOException: {S3}: InvalidAccessKeyId"),
    ),
    "the broker is unreachable": (
        spark(f"{KAFKA}.TimeoutException: Timed out waiting for a node assignment"),
        spark(f"{KAFKA}.DisconnectException"),
        spark(f"{KAFKA}.NotLeaderOrFollowerException: moved"),
    ),
    "an executor was lost": (
        spark("org.apache.spark.SparkException: Job aborted due to stage failure: "
              "ExecutorLostFailure (executor 2 exited caused by one of the running tasks)"),
        spark("org.apache.spark.shuffle.FetchFailedException: Failed to connect to host-7"),
        spark("org.apache.spark.SparkException: Executor heartbeat timed out after 130015 ms"),
    ),
    "the storage throttled": (
        spark("org.apache.hadoop.fs.s3a.AWSServiceThrottledException: PUT on orders"),
        spark(f"{S3}: Please reduce your request rate (Service: S3; Status Code: 503; SlowDown)"),
        spark("AbfsRestOperationException: Operation failed: ServerBusy"),
    ),
    "the database of a source is unreachable": (
        spark("java.sql.SQLTransientConnectionException: pool: no connection within 30000 ms"),
        spark("java.sql.SQLRecoverableException: IO Error: The Network Adapter could not connect"),
    ),
    "the network failed": (
        spark("java.net.ConnectException: Connection refused"),
        spark("java.net.UnknownHostException: lake.example.com"),
        spark("java.net.SocketTimeoutException: Read timed out"),
        spark("org.apache.hadoop.fs.s3a.AWSClientIOException: Unable to execute HTTP request"),
    ),
    "a call timed out": (
        spark("org.apache.spark.rpc.RpcTimeoutException: Futures timed out after [120 seconds]"),
        spark("java.util.concurrent.TimeoutException: Futures timed out after [100000 ms]"),
    ),
    "conflict with another Delta commit": (
        spark("io.delta.exceptions.ConcurrentAppendException: [DELTA_CONCURRENT_APPEND] Files"),
    ),
}  # fmt: skip
UNKNOWN = (
    spark("java.lang.IllegalStateException: nobody has seen this"),
    spark("org.apache.spark.SparkArithmeticException: [DIVIDE_BY_ZERO] Division by zero"),
    spark(f"{KAFKA}.UnknownTopicOrPartitionException: This server does not host this partition"),
    spark("org.apache.spark.sql.execution.streaming.state.StateSchemaNotCompatible: other columns"),
    RunError("HF5303", "orders failed: KeyError: 'n'"),
    SinkError("HF5005", "the rows do not fit"),
    SinkError("HF5044", "PostgreSQL refused the batch: disk full"),
    StorageError("HF7002", "access was denied"),
    StorageError("HF7015", "no space left on device"),
)


def test_every_row_has_a_test() -> None:
    assert list(ROWS) == [reason.name for reason in REASONS]


@pytest.mark.parametrize("reason", REASONS, ids=lambda one: one.name)
def test_a_failure_is_of_its_row(reason: object) -> None:
    """And of no row before it, which would decide first."""
    name = reason.name  # type: ignore[attr-defined]
    for error in ROWS[name]:
        found = reason_of(error)
        assert found is not None and found.name == name, error.message
        assert passes(error) == found.passes


@pytest.mark.parametrize("error", UNKNOWN, ids=lambda one: f"{one.code.number} {one.trace}"[:60])
def test_what_nobody_knows_stays(error: HoldfastError) -> None:
    assert reason_of(error) is None and not passes(error)


def test_a_real_trace_of_a_broker_that_does_not_answer_passes() -> None:
    (file,) = (TRACES / "kafka-no-answer").glob("4.2.0-*.txt")
    trace = file.read_text(encoding="utf-8")
    assert passes(RunError("HF5302", "orders: Spark stopped", trace=trace))


def test_the_guide_lists_the_whole_table() -> None:
    page = (REPOSITORY / "docs/how-to/keep-running.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (.+) \| (yes|no) \|$", page, re.MULTILINE)
    assert rows == [(one.name, "yes" if one.passes else "no") for one in REASONS]


def test_the_pause_doubles_up_to_five_minutes() -> None:
    policy = RestartPolicy(10, 5.0)
    pauses = [backoff_seconds(policy, restart) for restart in range(1, 9)]
    assert pauses == [5, 10, 20, 40, 80, 160, 300, 300]
    assert backoff_seconds(policy, 10_000) == 300
    assert backoff_seconds(RestartPolicy(10, 600.0), 1) == 300
