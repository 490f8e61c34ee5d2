"""The user's jars beside the locked ones: never two versions of one library."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.errors import SparkStartError
from holdfast.spark.jars.cache import features_within, own_jars, without_doubles
from holdfast.spark.jars.lock import locked_jars
from tests.spark.jars.repository import CONTENT, locked

AT = "holdfast.yaml:4:3"


def test_paths_count_from_the_projects_folder(tmp_path: Path) -> None:
    """Also file: URLs and patterns; URLs of other places are Spark's to reach."""
    (tmp_path / "lib").mkdir()
    files = [tmp_path / "lib" / name for name in ("a.jar", "b.jar")]
    for file in files:
        file.write_bytes(b"")
    written = ["lib/a.jar", "lib/*.jar", files[1].as_uri(), "s3a://lake/c.jar"]
    expected = (str(files[0]), str(files[1]), "s3a://lake/c.jar")
    assert own_jars(written, tmp_path, AT) == expected


@pytest.mark.parametrize("written", ["lib/a.jar", "/nowhere/a.jar", "*.jar", "file:/nowhere/a.jar"])
def test_a_file_that_is_not_there_is_refused(tmp_path: Path, written: str) -> None:
    """With the place where it was declared."""
    with pytest.raises(SparkStartError) as raised:
        own_jars([written], tmp_path, AT)
    assert raised.value.code.number == "HF5210"
    assert written in raised.value.message
    assert raised.value.at == AT


@pytest.mark.parametrize(
    "own",
    [
        "/x/delta-spark_4.2_2.13-4.3.0.jar",
        "/x/delta-spark_2.13-4.0.0.jar",
        "s3a://lake/delta-storage-4.4.1.jar",
    ],
)
def test_another_version_of_a_locked_library_is_refused(own: str) -> None:
    """Also where it was made for another Scala or Spark."""
    with pytest.raises(SparkStartError) as raised:
        without_doubles([own], locked_jars(["delta"], "4.2.0"), AT)
    assert raised.value.code.number == "HF5211"
    assert own.rpartition("/")[2] in raised.value.message
    assert raised.value.at == AT


def test_the_same_file_is_taken_once(tmp_path: Path) -> None:
    """Byte by byte the same, not only by its name."""
    own = tmp_path / "tiny-1.0.jar"
    own.write_bytes(CONTENT)
    assert without_doubles([str(own), "/x/mine-2.jar"], [locked("tiny")], AT) == ("/x/mine-2.jar",)
    own.write_bytes(b"another")
    with pytest.raises(SparkStartError):
        without_doubles([str(own)], [locked("tiny")], AT)


def test_a_feature_that_the_user_brings_is_seen() -> None:
    """For a Spark that the lock has nothing for."""
    own = ["/x/delta-spark_4.3_2.13-4.5.0.jar", "/x/postgresql-42.7.5.jar", "/x/other.jar"]
    assert features_within(own) == {"delta", "postgres"}
