"""Backups and restores on S3, through conditional writes, with the same promises as on disk."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from holdfast.backup.access import Records, open_records
from holdfast.backup.commands import SinkLog, back_up
from holdfast.backup.sinklog import SinkLogOptions, write_sink_log
from holdfast.backup.store import Retention
from holdfast.errors import CheckpointError
from holdfast.storage.location import parse_location
from tests.backup.folders import NOW_MS, assert_store_is_sound, back_up_now, restore_now
from tests.corpus.loading import sample
from tests.storage.s3server import S3Server

LATER = NOW_MS + 60_000


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    running = S3Server()
    yield running
    running.stop()


def opened(server: S3Server, bucket: str, name: str = "orders") -> Records:
    location = parse_location(f"s3a://{bucket}/base/{name}")
    return open_records(location, server.settings())


def content(server: S3Server, bucket: str, name: str = "orders") -> dict[str, bytes]:
    """Every object of the checkpoint, as it is."""
    prefix = f"base/{name}/"
    listed = server.client.list_objects_v2(Bucket=bucket, Prefix=prefix).get("Contents", [])
    keys = [item["Key"] for item in listed]
    return {
        key.removeprefix(prefix): server.client.get_object(Bucket=bucket, Key=key)["Body"].read()
        for key in keys
    }


@pytest.mark.s3
def test_back_up_damage_restore(server: S3Server) -> None:
    bucket = f"bucket-{uuid.uuid4().hex}"
    files = {
        path: data
        for path, data in sample("aggregation-rocksdb", "4.3.0").files().items()
        if not path.endswith(".crc")
    }
    server.fill(bucket, {f"base/orders/{path}": data for path, data in files.items()})
    records = opened(server, bucket)
    first = back_up_now(records).result
    assert content(server, bucket) == files
    again = back_up_now(records, now_ms=NOW_MS + 1).result
    assert (again.copied_files, again.copied_bytes) == (0, 0)
    assert assert_store_is_sound(records, tidy=True) == 2
    server.client.delete_object(Bucket=bucket, Key="base/orders/metadata")
    server.client.put_object(Bucket=bucket, Key="base/orders/commits/0", Body=b"torn")
    server.client.put_object(Bucket=bucket, Key="base/orders/extra", Body=b"extra")
    done = restore_now(records, first.backups[0].id, now_ms=LATER, even_if_running=True).result
    assert content(server, bucket) == files
    assert (done.written_files, done.removed_files) == (2, 1)
    elsewhere = opened(server, bucket, "copy")
    restore_now(records, first.backups[0].id, target=elsewhere, now_ms=LATER)
    assert content(server, bucket, "copy") == files


@pytest.mark.s3
def test_a_sinks_log_is_written_out_beside_it(server: S3Server) -> None:
    bucket = f"bucket-{uuid.uuid4().hex}"
    packed = sample("stateless", "4.3.0")
    log = {
        path: data
        for path, data in packed.output_files().items()
        if path.startswith("_spark_metadata/") and not path.endswith(".crc")
    }
    files = {f"base/orders/{path}": data for path, data in packed.files().items()}
    server.fill(bucket, {**files, **{f"base/out/{path}": data for path, data in log.items()}})
    records = opened(server, bucket)
    reader = server.reader(f"s3a://{bucket}/base/out/_spark_metadata")
    sink_log = SinkLog(f"s3://{bucket}/base/out", {"_spark_metadata": reader})
    made = back_up(records, now_ms=NOW_MS, retention=Retention(), sink_log=sink_log).result
    snapshot = records.store.snapshot(made.backups[0].id)
    for place, expected in (("out", "HF4520"), ("out/new", "HF4520"), ("orders", "HF4520")):
        wish = SinkLogOptions(snapshot, records.store, opened(server, bucket, place))
        with pytest.raises(CheckpointError) as refused:
            write_sink_log(wish, now_ms=LATER, confirm=lambda _: True)
        assert refused.value.code.number == expected
    wish = SinkLogOptions(snapshot, records.store, opened(server, bucket, "look"))
    done = write_sink_log(wish, now_ms=LATER, confirm=lambda _: True).result
    assert content(server, bucket, "look") == log == content(server, bucket, "out")
    assert done.verified_files == len(log)
