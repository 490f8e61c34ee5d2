"""One place, one text."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.storage.location import canonical, parse_location


@pytest.mark.parametrize(
    "spellings",
    [
        (
            "/x/y",
            "/x//y/",
            "/x/./y",
            "/x/z/../y",
            "file:/x/y",
            "file:///x/y",
            "file://localhost/x/y",
        ),
        ("s3://b/k", "s3a://b/k/", "s3n://B//k", "S3A://b/./k", "s3a://b/j/../k"),
        ("hdfs://nn/p", "hdfs://NN:8020/p/", "hdfs://me@nn//p"),
        (
            "abfss://c@a.dfs.core.windows.net/p",
            "abfs://c@A.dfs.core.windows.net/p/",
            "wasbs://c@a.blob.core.windows.net//p",
        ),
        ("gs://b/k", "gcs://b/k/"),
        ("https://h/x?sig=1", "HTTPS://me:pw@H/x/"),
        ("hdfs:///p", "hdfs:/p/"),
        ("s3://b", "s3a://b/"),
    ],
)
def test_spellings_of_one_place_are_the_same(spellings: tuple[str, ...]) -> None:
    assert len({canonical(parse_location(text)) for text in spellings}) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("/x/y", "/x/Y"),
        ("s3://b/k", "s3://b/K"),
        ("s3://b/k", "gs://b/k"),
        ("s3://b/k", "s3://b2/k"),
        ("s3://b/k?v=1", "s3://b/k?v=2"),
        ("hdfs://nn:9000/p", "hdfs://nn/p"),
        ("abfss://c@a.dfs.core.windows.net/p", "abfss://d@a.dfs.core.windows.net/p"),
    ],
)
def test_different_places_stay_different(one: str, other: str) -> None:
    assert canonical(parse_location(one)) != canonical(parse_location(other))


def test_links_lead_to_the_place_itself(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    through_link = canonical(parse_location(str(tmp_path / "link" / "job")))
    assert through_link == canonical(parse_location(str(tmp_path / "real" / "job")))
    assert through_link == f"file://{tmp_path.resolve()}/real/job"
