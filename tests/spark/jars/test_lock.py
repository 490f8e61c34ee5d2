"""The lock: exact, whole, and it says why a version differs from Spark's."""

from __future__ import annotations

import re

import pytest

from holdfast.errors import SparkStartError
from holdfast.spark.jars.lock import locked_jars, locked_releases

ENTRIES = [
    (release, feature, jar)
    for release, features in locked_releases().items()
    for feature, jars in features.items()
    for jar in jars
]


def test_the_default_spark_has_every_feature() -> None:
    """Each with at least one jar."""
    features = locked_releases()["4.2"]
    assert set(features) == {"delta", "kafka", "postgres", "s3"}
    assert all(features.values())


@pytest.mark.parametrize(
    ("release", "feature", "jar"), ENTRIES, ids=lambda value: getattr(value, "file", value)
)
def test_every_entry_is_exact(release: str, feature: str, jar: object) -> None:
    """A digest, a size, a revision without a range."""
    assert re.fullmatch(r"[0-9a-f]{64}", jar.sha256)  # type: ignore[attr-defined]
    assert jar.size > 0  # type: ignore[attr-defined]
    assert re.fullmatch(r"\d[\w.]*", jar.revision)  # type: ignore[attr-defined]


def test_one_file_name_means_one_file() -> None:
    """The cache is a flat folder for every release and feature."""
    digests: dict[str, str] = {}
    for _, _, jar in ENTRIES:
        assert digests.setdefault(jar.file, jar.sha256) == jar.sha256


def test_a_library_of_spark_with_another_version_has_its_reason() -> None:
    """Those that Spark itself publishes, and Delta."""
    for release, _, jar in ENTRIES:
        if jar.organisation in ("org.apache.spark", "io.delta"):
            assert jar.revision.startswith(release) or jar.reason, jar


def test_each_jar_is_given_once() -> None:
    """Also where two features would share one."""
    jars = locked_jars(["kafka", "delta", "kafka"], "4.2.0")
    assert len(set(jars)) == len(jars) == 6


def test_a_later_patch_of_spark_has_the_same_jars() -> None:
    """Releases are known by their first two numbers."""
    assert locked_jars(["delta"], "4.2.7") == locked_jars(["delta"], "4.2.0")


def test_no_features_need_no_jars_on_any_spark() -> None:
    """Files and rate sources work without."""
    assert locked_jars([], "4.3.0") == ()


def test_a_spark_that_no_jar_fits_is_refused_with_one_that_does() -> None:
    """Named as pip takes it."""
    with pytest.raises(SparkStartError) as raised:
        locked_jars(["delta"], "4.3.0")
    assert raised.value.code.number == "HF5206"
    assert "delta" in raised.value.message
    assert "pyspark 4.3.0" in raised.value.message
    assert raised.value.next_steps == ('pip install "pyspark==4.2.*"',)
