"""Which damaged snapshots Spark passes over: 4.2 and later, where older files rebuild them."""

from __future__ import annotations

import re

import pytest

from holdfast.checkpoint.recovery.forecast import outcome_with
from holdfast.checkpoint.recovery.outcome import Action
from holdfast.checkpoint.recovery.state import is_passed_over
from tests.checkpoint.pictures import files_of, picture_of, replaced, without

HDFS, CHANGELOGS = "aggregation-hdfs-snapshots", "aggregation-rocksdb-changelog-snapshots"


def newest(files: dict[str, bytes], ending: str) -> str:
    """Give the newest snapshot of partition 0."""
    return max(path for path in files if re.fullmatch(rf"state/0/0/[0-9]\.{ending}", path))


@pytest.mark.parametrize(("name", "ending"), [(HDFS, "snapshot"), (CHANGELOGS, "zip")])
@pytest.mark.parametrize(("release", "passed"), [("4.3", True), ("4.1", False), ("3.5", False)])
def test_only_later_releases_pass_them_over(
    name: str, ending: str, release: str, passed: bool
) -> None:
    """As recorded in tests/diagnosis/doctor/trials: a flipped snapshot, a zip that was cut."""
    files = files_of(name)
    assert is_passed_over(picture_of(files), newest(files, ending), release) is passed


@pytest.mark.parametrize("release", ["4.3", "4.1"])
def test_an_empty_snapshot_stops_only_earlier_releases(release: str) -> None:
    """As recorded: snapshot-empty."""
    files = files_of(HDFS)
    damaged = replaced(files, newest(files, "snapshot"), b"")
    stops = outcome_with(picture_of(damaged), release).action is Action.FAIL
    assert stops is (release == "4.1")


def test_a_gap_before_it_can_not_be_passed() -> None:
    """An older snapshot would need the deltas in between."""
    files = files_of(HDFS)
    path = newest(files, "snapshot")
    version = int(path.rpartition("/")[2].split(".")[0])
    gone = without(files, f"state/0/0/{version}.delta")
    assert not is_passed_over(picture_of(gone), path, "4.3")


def test_without_changelogs_nothing_rebuilds_a_zip() -> None:
    """Each zip stands alone."""
    files = files_of("aggregation-rocksdb")
    assert not is_passed_over(picture_of(files), "state/0/0/6.zip", "4.3")


def test_what_is_no_snapshot_is_not_passed_over() -> None:
    """A delta is needed as it is."""
    assert not is_passed_over(picture_of(files_of(HDFS)), "state/0/0/1.delta", "4.3")
