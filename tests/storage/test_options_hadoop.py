"""Spark's fs.s3a settings reach the reader."""

from __future__ import annotations

import pytest

from holdfast.storage.location import parse_location
from holdfast.storage.options import settings_from_spark

CONF = {
    "spark.hadoop.fs.s3a.access.key": "general-key",
    "spark.hadoop.fs.s3a.secret.key": "general-secret",
    "spark.hadoop.fs.s3a.session.token": "general-token",
    "spark.hadoop.fs.s3a.endpoint": "minio:9000",
    "spark.hadoop.fs.s3a.endpoint.region": "eu-central-1",
    "spark.hadoop.fs.s3a.path.style.access": "true",
    "spark.hadoop.fs.s3a.connection.ssl.enabled": "false",
    "spark.hadoop.fs.s3a.bucket.lake.access.key": "lake-key",
    "spark.hadoop.fs.s3a.bucket.lake.b.access.key": "lake-b-key",
    "spark.hadoop.fs.s3a.bucket.lake.endpoint": "lake:9000",
    "spark.hadoop.fs.s3a.impl": "org.apache.hadoop.fs.s3a.S3AFileSystem",
    "spark.sql.shuffle.partitions": "8",
}


def test_general_settings_are_translated() -> None:
    assert settings_from_spark(CONF, parse_location("s3a://other/x")).for_scheme("s3") == {
        "key": "general-key",
        "secret": "general-secret",
        "token": "general-token",
        "endpoint": "minio:9000",
        "region": "eu-central-1",
        "path_style": True,
        "ssl": False,
    }


@pytest.mark.parametrize(
    ("bucket", "key", "endpoint"),
    [("lake", "lake-key", "lake:9000"), ("lake.b", "lake-b-key", "minio:9000")],
)
def test_a_buckets_own_settings_win(bucket: str, key: str, endpoint: str) -> None:
    options = settings_from_spark(CONF, parse_location(f"s3a://{bucket}/x")).for_scheme("s3")
    assert (options["key"], options["endpoint"]) == (key, endpoint)
    assert options["secret"] == "general-secret"


def test_sparks_spelling_wins_over_hadoops() -> None:
    conf = {"spark.hadoop.fs.s3a.endpoint": "spark", "fs.s3a.endpoint": "hadoop"}
    options = settings_from_spark(conf, parse_location("s3://b/x")).for_scheme("s3")
    assert options == {"endpoint": "spark"}


def test_the_anonymous_provider_means_anonymous() -> None:
    provider = "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider"
    conf = {"fs.s3a.aws.credentials.provider": provider, "fs.s3a.access.key": " "}
    options = settings_from_spark(conf, parse_location("s3://b/x")).for_scheme("s3")
    assert options == {"anonymous": True}


def test_other_storages_are_not_touched() -> None:
    assert settings_from_spark(CONF, parse_location("hdfs://nn/x")).options == {}
    assert settings_from_spark({}, parse_location("s3://b/x")).options == {}
