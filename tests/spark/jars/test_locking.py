"""The lock is what locking.py would write."""

from __future__ import annotations

from holdfast.spark.jars.lock import locked_releases
from holdfast.spark.jars.locking import REASONS, WANTED


def test_the_lock_holds_what_is_wanted() -> None:
    """Every library asked for by name, at its revision; a change there needs `make lock`."""
    locked = locked_releases()
    assert {release: set(features) for release, features in locked.items()} == {
        release: set(features) for release, features in WANTED.items()
    }
    for release, features in WANTED.items():
        for feature, wanted in features.items():
            found = {(jar.organisation, jar.name, jar.revision) for jar in locked[release][feature]}
            asked = {(one.organisation, one.name, one.revision) for one in wanted}
            assert asked <= found


def test_only_what_is_transitive_brings_more() -> None:
    """Delta, Kafka and PostgreSQL are exactly what was asked for."""
    for release, features in WANTED.items():
        for feature, wanted in features.items():
            if not any(one.transitive for one in wanted):
                assert len(locked_releases()[release][feature]) == len(wanted)


def test_every_reason_is_in_the_lock() -> None:
    """None is left of a library that is gone."""
    jars = [
        jar for features in locked_releases().values() for one in features.values() for jar in one
    ]
    given = {jar.reason for jar in jars if jar.reason}
    assert given == set(REASONS.values())
