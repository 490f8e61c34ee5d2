"""Which Spark wrote a checkpoint, inferred from its files alone."""

from __future__ import annotations

from holdfast.checkpoint.releases import RELEASES, spark_version
from tests.checkpoint.pictures import files_of, picture_of, replaced
from tests.corpus.drawn import over_samples
from tests.corpus.loading import Sample, corpus


@over_samples("one", corpus())
def test_the_true_release_lies_in_the_inferred_range(one: Sample) -> None:
    """For every real checkpoint, and for most of them the range is one release."""
    version = spark_version(picture_of(dict(one.files())))
    true = one.spark.rpartition(".")[0]
    assert version.low is not None
    assert version.high is not None
    assert RELEASES.index(version.low) <= RELEASES.index(true) <= RELEASES.index(version.high)


def test_most_checkpoints_tell_their_release_exactly() -> None:
    """Only 4.0 and 4.1 can't always be told apart, and a fresh one tells nothing."""
    unclear = {
        (one.spark.rpartition(".")[0], one.name)
        for one in corpus()
        if spark_version(picture_of(dict(one.files()))).value is None
    }
    assert all(
        release in ("4.0", "4.1") or name in ("fresh", "continuous") for release, name in unclear
    )


def test_an_entry_without_all_keys_of_3_5_is_older() -> None:
    """Spark 3.3 pinned fewer settings."""
    files = files_of("stateless", "3.5.9")
    newest = max(int(path[8:]) for path in files if path[:8] == "offsets/" and path[8:].isdecimal())
    metadata = (
        b'{"batchWatermarkMs":0,"batchTimestampMs":1,"conf":{"spark.sql.shuffle.partitions":"2"}}'
    )
    entry = b"v1\n" + metadata + b'\n{"logOffset":1}'
    picture = picture_of(replaced(files, f"offsets/{newest}", entry))
    version = spark_version(picture)
    assert (version.value, version.low, version.high) == (None, None, "3.4")
    assert version.assumed == RELEASES[-1]
